import {
	type Change,
	PLAN_PROBLEM,
	ROLE_PROBLEM,
	adminForm,
	adminPage,
	changeForm,
	listChanges,
	readRatePlan,
	readRole
} from '#lib/server/web/admin.ts';
import { type RequestEvent, error, redirect } from '@sveltejs/kit';
import { type Account, changeAccount, findAccount } from '#lib/server/accounts/accounts.ts';
import { idOf } from '#lib/server/web/page-links.ts';
import { inviteWithoutPassword, mayInvite } from '#lib/server/web/sign-in/password-links.ts';
import type { Visitor } from '#lib/server/web/sign-in/sign-in.ts';
import { listKeys } from '#lib/server/developer/api-keys.ts';
import {
	findPasswordState,
	deleteInvitations,
	removeSecondFactor,
	forgetUser
} from '#lib/server/authentication/links.ts';
import { startOwnerView, findOwnerView, stopOwnerViews } from '#lib/server/owner/views.ts';

export const load = adminPage(accountPage);

type AccountEvent = RequestEvent<{ id: string }>;

/** Throws 404 for an unknown account, and for the portal's own. */
async function findShownAccount({ params, locals }: AccountEvent): Promise<Account> {
	const account = await findAccount(locals.app, idOf(params.id));
	if (!account || account.plan === 'portal') error(404, 'Not found');
	return account;
}

async function accountPage(event: AccountEvent, admin: Visitor) {
	const account = await findShownAccount(event);
	const { app } = event.locals;
	const [password, keys, employer, view] = await Promise.all([
		findPasswordState(app.signIn, account),
		listKeys(app.apiKeys, account.id),
		account.employer_id === null ? null : findAccount(app, account.employer_id),
		findOwnerView(app, admin.sessionId)
	]);
	const now = app.clock.now();
	const facts = {
		...{ account, ...password, mayInvite: mayInvite(event, password) },
		...{ isSelf: account.id === admin.account.id, isViewed: view?.account_id === account.id }
	};
	return {
		...facts,
		...listChanges(event, CHANGES, facts),
		keys: keys.filter((key) => key.revoked_at === null && (key.expires_at ?? now + 1) > now).length,
		employer: employer && { id: employer.id, email: employer.email }
	};
}

interface Facts {
	account: Account;
	hasSecondFactor: boolean;
	/** Unused password links. */
	links: number;
	mayInvite: boolean;
	isSelf: boolean;
	isViewed: boolean;
}

const wrong = (problem: string, status = 400) => ({ status, problem });

const changeStatus =
	(status: Account['status']): AccountChange['run'] =>
	async ({ event, admin, subject, author: { note } }) => {
		await changeAccount(event.locals.app, subject.id, { status }, { by: admin.account.id, note });
		return 'done';
	};

type AccountChange = Change<Account, Facts>;

const CHANGES = {
	view: {
		title: 'View the owner pages',
		text: 'Opens the owner pages as the owner sees them, for 30 minutes at most. You cannot change anything. The owner sees the time and your reason.',
		button: 'Start the view',
		isOffered: ({ account, isViewed }) => account.role === 'owner' && !isViewed,
		done: () => 'The view has ended.',
		async run({ event, admin, subject, author }) {
			const { sessionId: signInSession, account } = admin;
			const order = { accountId: subject.id, adminId: account.id, signInSession, reason: author.note };
			const isStarted = await startOwnerView(event.locals.app, order);
			return isStarted ? { leadTo: '/owner' } : wrong("Only an owner's pages can be viewed.", 409);
		}
	},
	invite: {
		title: 'Invite',
		text: 'Makes a link to choose the password. It works once, for a day.',
		button: 'Make the link',
		isOffered: ({ mayInvite }) => mayInvite,
		async run({ event, subject, author }) {
			const link = await inviteWithoutPassword(event, subject, author);
			if (link !== null) return { link };
			return wrong('This account has a password. Its person can ask for a new one by email.', 409);
		}
	},
	links: {
		title: 'Delete the unused password links',
		text: 'Ends invitations, and links that were sent by email.',
		button: 'Delete the links',
		isOffered: ({ links }) => links > 0,
		done: () => 'The password links do not work any more.',
		async run({ event, subject, author }) {
			await deleteInvitations(event.locals.app.signIn, subject, author);
			return 'done';
		}
	},
	factor: {
		title: 'Remove the second factor',
		text: 'For a person whose phone is lost. The password alone signs in then, so make sure who asks.',
		button: 'Remove the second factor',
		isDangerous: true,
		isOffered: ({ hasSecondFactor }) => hasSecondFactor,
		done: () => 'The second factor is removed.',
		async run({ event, subject, author }) {
			const isRemoved = await removeSecondFactor(event.locals.app.signIn, subject, author);
			return isRemoved ? 'done' : wrong('This account has no second factor.', 409);
		}
	},
	suspend: {
		title: 'Suspend',
		text: 'Within five seconds its API keys are refused. Its pages change nothing any more. Its routers keep selling.',
		button: 'Suspend the account',
		isDangerous: true,
		isOffered: ({ account, isSelf }) => account.status === 'active' && !isSelf,
		done: ({ account }) => account.status === 'suspended' && 'The account is suspended.',
		run: changeStatus('suspended')
	},
	restore: {
		title: 'Restore',
		text: 'Its API keys and pages work again.',
		button: 'Restore the account',
		isOffered: ({ account, isSelf }) => account.status === 'suspended' && !isSelf,
		done: ({ account }) => account.status === 'active' && 'The account is active again.',
		run: changeStatus('active')
	},
	role: {
		title: 'Change the role',
		text: 'API keys of a higher role keep only the rights of the new one.',
		button: 'Change the role',
		isOffered: ({ isSelf }) => !isSelf,
		done: () => 'The role is changed.',
		async run({ event, admin, subject, author: { note }, field }) {
			const role = readRole(field);
			if (!role) return wrong(ROLE_PROBLEM);
			const { app } = event.locals;
			// The employer may have set the password. Forgotten first, so that it never opens the new role.
			if (subject.role === 'staff') await forgetUser(app.signIn, subject);
			await changeAccount(app, subject.id, { role }, { by: admin.account.id, note });
			return 'done';
		}
	},
	plan: {
		title: 'Change the rate plan',
		text: 'Sets the limits of its API keys.',
		button: 'Change the rate plan',
		isOffered: () => true,
		done: () => 'The rate plan is changed.',
		async run({ event, admin, subject, author: { note }, field }) {
			const plan = readRatePlan(field);
			if (!plan) return wrong(PLAN_PROBLEM);
			await changeAccount(event.locals.app, subject.id, { plan }, { by: admin.account.id, note });
			return 'done';
		}
	}
} satisfies Record<string, AccountChange>;

const accountForm = (which: keyof typeof CHANGES) => changeForm(which, CHANGES[which], findShownAccount);

export const actions = {
	invite: accountForm('invite'),
	links: accountForm('links'),
	factor: accountForm('factor'),
	suspend: accountForm('suspend'),
	restore: accountForm('restore'),
	role: accountForm('role'),
	plan: accountForm('plan'),
	view: accountForm('view'),
	stop: adminForm(stopView)
};

async function stopView({ locals, params }: AccountEvent, { account, sessionId }: Visitor) {
	await stopOwnerViews(locals.app, { adminId: account.id, signInSession: sessionId });
	redirect(303, `/admin/accounts/${idOf(params.id)}?done=view`);
}
