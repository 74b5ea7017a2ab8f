import { error, fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { isEmail } from '#lib/domain/email.ts';
import { AccountChangeRefused, RATE_PLANS, ROLES, type Account } from '../../accounts/accounts.ts';
import { readFields, type Fields } from '../form.ts';
import { idOf } from '../page-links.ts';
import { inviteWithoutPassword, mayInvite } from '../sign-in/password-links.ts';
import type { Visitor } from '../sign-in/sign-in.ts';
import { actorOf, readReason } from './admin.ts';

type AccountEvent = RequestEvent<{ id: string }>;

const STATUSES = ['active', 'suspended'] as const;

/** Sentences about a change, by the parameter `done` of the address. */
const DONE: ReadonlyMap<string, string> = new Map([
	['active', 'The account is active again.'],
	['suspended', 'The account is suspended.'],
	['role', 'The role is changed.'],
	['plan', 'The rate plan is changed.'],
	['links', 'The password links do not work any more.'],
	['factor', 'The second factor is removed.'],
	['view', 'The view has ended.']
]);

/** Reads ?email=&role=&status=, each optional. */
export const accountFilterOf = ({ url: { searchParams } }: RequestEvent) => ({
	email: (searchParams.get('email') ?? '').replace(/\p{Cc}+/gu, '').trim(),
	role: [...ROLES, 'staff' as const].find((one) => one === searchParams.get('role')) ?? null,
	status: STATUSES.find((one) => one === searchParams.get('status')) ?? null
});

/** Throws 404 for an unknown account, and for the portal's own. */
async function accountOf({ params, locals }: AccountEvent): Promise<Account> {
	const account = await locals.app.accounts.find(idOf(params.id));
	if (!account || account.plan === 'portal') error(404, 'Not found');
	return account;
}

export async function accountPage(event: AccountEvent, admin: Visitor) {
	const account = await accountOf(event);
	const { app } = event.locals;
	const [password, keys, employer, view] = await Promise.all([
		app.signIn.passwordState(account),
		app.apiKeys.list(account.id),
		account.employer_id === null ? null : app.accounts.find(account.employer_id),
		app.ownerViews.current(admin.sessionId)
	]);
	const now = app.clock.now();
	const done = event.url.searchParams.get('done') ?? '';
	const isStale = STATUSES.some((one) => one === done && one !== account.status);
	return {
		account,
		...password,
		mayInvite: mayInvite(event, password),
		keys: keys.filter((key) => key.revoked_at === null && (key.expires_at ?? now + 1) > now).length,
		isSelf: account.id === admin.account.id,
		employer: employer && { id: employer.id, email: employer.email },
		isViewed: view?.account_id === account.id,
		done: isStale ? null : (DONE.get(done) ?? null)
	};
}

interface Entry {
	field: Fields;
	/** id of the administrator's account */
	by: number;
	note: string;
}

type Outcome =
	| { done: 'role' | 'plan' | 'links' | 'factor' | Account['status'] }
	| { leadTo: string }
	/** Shown once. */
	| { link: string }
	| { status: number; problem: string };

const wrong = (problem: string, status = 400): Outcome => ({ status, problem });

/**
 * Carries out a change that needs a reason, and leads back to the account.
 * @param which names the form
 */
async function change(
	event: AccountEvent,
	admin: Visitor,
	which: 'invite' | 'links' | 'factor' | 'status' | 'role' | 'plan' | 'view',
	run: (account: Account, entry: Entry) => Promise<Outcome>
) {
	const account = await accountOf(event);
	const { field } = await readFields(event.request);
	const { note, problem } = readReason(field);
	const answer = { which, note, problem: null, link: null };
	if (problem !== null) return fail(400, { ...answer, problem });
	const outcome = await run(account, { field, by: admin.account.id, note }).catch((refusal: unknown) => {
		if (refusal instanceof AccountChangeRefused) return wrong(refusal.message, 409);
		throw refusal;
	});
	if ('problem' in outcome) return fail(outcome.status, { ...answer, problem: outcome.problem });
	if ('link' in outcome) return { ...answer, ...outcome };
	redirect(303, 'leadTo' in outcome ? outcome.leadTo : `/admin/accounts/${account.id}?done=${outcome.done}`);
}

export const setStatus = (event: AccountEvent, admin: Visitor, status: Account['status']) =>
	change(event, admin, 'status', async ({ id }, entry) => {
		await event.locals.app.accounts.change(id, { status }, entry);
		return { done: status };
	});

export const setRole = (event: AccountEvent, admin: Visitor) =>
	change(event, admin, 'role', async (account, entry) => {
		const role = roleOf(entry.field);
		if (!role) return wrong(ROLE_PROBLEM);
		const { app } = event.locals;
		// The employer may have set the password. Forgotten first, so that it never opens the new role.
		if (account.role === 'staff') await app.signIn.forget(account);
		await app.accounts.change(account.id, { role }, entry);
		return { done: 'role' };
	});

export const setRatePlan = (event: AccountEvent, admin: Visitor) =>
	change(event, admin, 'plan', async ({ id }, entry) => {
		const plan = ratePlanOf(entry.field);
		if (!plan) return wrong(PLAN_PROBLEM);
		await event.locals.app.accounts.change(id, { plan }, entry);
		return { done: 'plan' };
	});

export const invite = (event: AccountEvent, admin: Visitor) =>
	change(event, admin, 'invite', async (account, { note }) => {
		const link = await inviteWithoutPassword(event, account, { by: actorOf(admin), note });
		if (link !== null) return { link };
		return wrong('This account has a password. Its person can ask for a new one by email.', 409);
	});

export const deleteInvitations = (event: AccountEvent, admin: Visitor) =>
	change(event, admin, 'links', async (account, { note }) => {
		await event.locals.app.signIn.deleteInvitations(account, { by: actorOf(admin), note });
		return { done: 'links' };
	});

export const removeSecondFactor = (event: AccountEvent, admin: Visitor) =>
	change(event, admin, 'factor', async (account, { note }) => {
		const author = { by: actorOf(admin), note };
		const isRemoved = await event.locals.app.signIn.removeSecondFactor(account, author);
		return isRemoved ? { done: 'factor' } : wrong('This account has no second factor.', 409);
	});

export const startView = (event: AccountEvent, admin: Visitor) =>
	change(event, admin, 'view', async ({ id }, { note: reason, by }) => {
		const order = { accountId: id, adminId: by, signInSession: admin.sessionId, reason };
		const isStarted = await event.locals.app.ownerViews.start(order);
		return isStarted ? { leadTo: '/owner' } : wrong("Only an owner's pages can be viewed.", 409);
	});

export async function stopView({ locals, params }: AccountEvent, { account, sessionId }: Visitor) {
	await locals.app.ownerViews.stop({ adminId: account.id, signInSession: sessionId });
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
	const created = await app.signIn.createAccount({ email, role, plan }, author, origin);
	if (!created) return refused(409, 'Email address: another account has it.');
	const { account, invitation } = created;
	const shown = { id: account.id, email: account.email, role: account.role, invitation };
	return { email, role, plan, note, problem: null, created: shown };
}
