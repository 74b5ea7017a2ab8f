import {
	PLAN_PROBLEM,
	ROLE_PROBLEM,
	actorOf,
	adminForm,
	adminPage,
	readRatePlan,
	readReason,
	readRole
} from '#lib/server/web/admin.ts';
import { pageById } from '#lib/server/web/page-links.ts';
import { ROLES, searchAccounts } from '#lib/server/accounts/accounts.ts';
import { isEmail } from '#lib/domain/email.ts';
import { createInvitedAccount } from '#lib/server/authentication/links.ts';
import { readFields } from '#lib/server/web/form.ts';
import type { Visitor } from '#lib/server/web/sign-in/sign-in.ts';
import { type RequestEvent, fail } from '@sveltejs/kit';

const STATUSES = ['active', 'suspended'] as const;

/** Reads ?email=&role=&status=, each optional. */
const readFilter = ({ url: { searchParams } }: RequestEvent) => ({
	email: (searchParams.get('email') ?? '').replace(/\p{Cc}+/gu, '').trim(),
	role: [...ROLES, 'staff' as const].find((one) => one === searchParams.get('role')) ?? null,
	status: STATUSES.find((one) => one === searchParams.get('status')) ?? null
});

/** /admin/accounts?email=&role=&status=&at=ID: newest first. */
export const load = adminPage(async (event) => {
	const filter = readFilter(event);
	const given = { ...filter, email: filter.email || null };
	const { rows, pages } = await pageById(event, 'at', given, (before, limit) =>
		searchAccounts(event.locals.app, filter, { before, limit })
	);
	return { filter, accounts: rows, pages };
});

export const actions = { default: adminForm(createAccount) };

async function createAccount(event: RequestEvent, admin: Visitor) {
	const { field } = await readFields(event.request);
	const email = field('email').trim();
	const [role, plan, { note, problem }] = [readRole(field), readRatePlan(field), readReason(field)];
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
