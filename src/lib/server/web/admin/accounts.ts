import { error, fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { isEmail } from '#lib/domain/email.ts';
import { RATE_PLANS, ROLES, type Account, findAccount, changeAccount } from '../../accounts/accounts.ts';
import { readFields, type Fields } from '../form.ts';
import { idOf } from '../page-links.ts';
import { inviteWithoutPassword, mayInvite } from '../sign-in/password-links.ts';
import type { Visitor } from '../sign-in/sign-in.ts';
import { actorOf, readReason } from './admin.ts';
import { changeForm, changesOf, type Change } from './changes.ts';
import { listKeys } from '../../developer/api-keys.ts';
import { startOwnerView, findOwnerView, stopOwnerViews } from '../../owner/views.ts';
import { createInvitedAccount } from '../../authentication/links.ts';
import { findPasswordState } from '../../authentication/links.ts';
import { deleteInvitations } from '../../authentication/links.ts';
import { removeSecondFactor } from '../../authentication/links.ts';
import { forgetUser } from '../../authentication/links.ts';

type AccountEvent = RequestEvent<{ id: string }>;

const STATUSES = ['active', 'suspended'] as const;

/** Reads ?email=&role=&status=, each optional. */
export const accountFilterOf = ({ url: { searchParams } }: RequestEvent) => ({
	email: (searchParams.get('email') ?? '').replace(/\p{Cc}+/gu, '').trim(),
	role: [...ROLES, 'staff' as const].find((one) => one === searchParams.get('role')) ?? null,
	status: STATUSES.find((one) => one === searchParams.get('status')) ?? null
});

/** Throws 404 for an unknown account, and for the portal's own. */
async function accountOf({ params, locals }: AccountEvent): Promise<Account> {
	const account = await findAccount(locals.app, idOf(params.id));
	if (!account || account.plan === 'portal') error(404, 'Not found');
	return account;
}

export async function accountPage(event: AccountEvent, admin: Visitor) {
	const account = await accountOf(event);
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
		...changesOf(event, CHANGES, facts),
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
			const role = roleOf(field);
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
			const plan = ratePlanOf(field);
			if (!plan) return wrong(PLAN_PROBLEM);
			await changeAccount(event.locals.app, subject.id, { plan }, { by: admin.account.id, note });
			return 'done';
		}
	}
} satisfies Record<string, AccountChange>;

export const accountForm = (which: keyof typeof CHANGES) => changeForm(which, CHANGES[which], accountOf);

export async function stopView({ locals, params }: AccountEvent, { account, sessionId }: Visitor) {
	await stopOwnerViews(locals.app, { adminId: account.id, signInSession: sessionId });
	redirect(303, `/admin/accounts/${idOf(params.id)}?done=view`);
}

const roleOf = (field: Fields) => ROLES.find((one) => one === field('role'));
const ratePlanOf = (field: Fields) => RATE_PLANS.find((one) => one === field('plan'));
const ROLE_PROBLEM = 'Role: choose one from the list.';
const PLAN_PROBLEM = 'Rate plan: choose one from the list.';

export async function createAccount(event: RequestEvent, admin: Visitor) {
	const { field } = await readFields(event.request);
	const email = field('email').trim();
	const [role, plan, { note, problem }] = [roleOf(field), ratePlanOf(field), readReason(field)];
	const refused = (status: number, reason: string) =>
		fail(status, { email, role, plan, note, problem: reason, created: null });
	if (!isEmail(email)) return refused(400, 'Email address: write one such as ann@example.org.');
	if (!role) return refused(400, ROLE_PROBLEM);
	if (!plan) return refused(400, PLAN_PROBLEM);
	if (problem !== null) return refused(400, problem);
	const { app, origin } = event.locals;
	const author = { by: actorOf(admin), note };
	const created = await createInvitedAccount(app.signIn, { email, role, plan }, author, origin);
	if (!created) return refused(409, 'Email address: another account has it.');
	const { account, invitation } = created;
	const shown = { id: account.id, email: account.email, role: account.role, invitation };
	return { email, role, plan, note, problem: null, created: shown };
}
