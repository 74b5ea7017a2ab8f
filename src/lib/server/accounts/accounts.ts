import { lockName } from '../db/locks.ts';
import { normaliseEmail } from '#lib/domain/email.ts';
import type { Base } from '#lib/server/base.ts';
import { sql } from 'kysely';
import type { Role, Scope } from '#lib/server/contract/scopes.ts';
import { findById, first, withoutNulls } from '#lib/server/db/queries.ts';
import type { Row } from '#lib/server/db/schema.ts';
import { accountActor } from '#lib/server/audit.ts';
import { refuse } from '../platform/errors.ts';

/**
 * Accounts: apps that call the API, owners, their staff, and administrators. An account is found by its email
 * address, which belongs to one account only.
 *
 * One administrator always remains, because nobody changes their own role or status.
 */

export type Account = Row<'accounts'>;
export type NewAccount = Pick<Account, 'email' | 'plan'> & { role: Role };

export const RATE_PLANS = ['default', 'enterprise'] as const;
export const ROLES = ['app', 'owner', 'admin'] as const satisfies readonly Role[];

export type RatePlan = Account['plan'];

/** The account and API key of a request. */
export interface Caller {
	accountId: number;
	keyId: number;
	role: Role;
	/** null: every scope of the role. */
	scopes: ReadonlySet<Scope> | null;
	plan: RatePlan;
	suspended: boolean;
}

/** Staff have no API keys. */
const ROLE_RANK: Record<Account['role'], number> = { staff: -1, app: 0, owner: 1, admin: 2 };

export const hasRole = (role: Account['role'], needed: Role): boolean => ROLE_RANK[role] >= ROLE_RANK[needed];

const selectAccounts = ({ db }: Base['database']) => db.selectFrom('accounts').selectAll();

export const findAccount = async ({ database: { db } }: Base, id: number): Promise<Account | null> =>
	(await findById(db, 'accounts', id)) ?? null;

export const findAccountByEmail = ({ database }: Base, email: string): Promise<Account | null> =>
	first(selectAccounts(database).where('email', '=', normaliseEmail(email)));

/** Returns the account of an email address. Creates it if there is none. */
export async function ensureAccount(base: Base, account: NewAccount, actor?: string): Promise<Account> {
	const known =
		(await findAccountByEmail(base, account.email)) ?? (await createAccount(base, account, actor));
	// Another process created it meanwhile.
	const found = known ?? (await findAccountByEmail(base, account.email));
	if (!found) throw new Error('An account can neither be found nor created');
	return found;
}

export const listAccountsWithRole = ({ database }: Base, role: Role, limit: number): Promise<Account[]> =>
	selectAccounts(database).where('role', '=', role).orderBy('id').limit(limit).execute();

/** Lists accounts of people, newest first. @param filter.email a part of the address; '' for any */
export function searchAccounts(
	{ database }: Base,
	filter: { email: string; role: Account['role'] | null; status: Account['status'] | null },
	{ before, limit }: { before: number | null; limit: number }
): Promise<Account[]> {
	const { email, ...fields } = filter;
	const part = `%${email.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
	return selectAccounts(database)
		.where('plan', '<>', 'portal')
		.where(sql<boolean>`email like ${part} escape '\\'`)
		.where(({ and }) => and(withoutNulls(fields)))
		.where('id', '<', before ?? Number.MAX_SAFE_INTEGER)
		.orderBy('id', 'desc')
		.limit(limit)
		.execute();
}

/** Returns null if the email address is taken. @param actor who creates it, for the audit log */
export function createAccount(
	{ audit, clock, database }: Base,
	account: NewAccount,
	actor = 'airtill',
	reason = ''
): Promise<Account | null> {
	const row = { ...account, email: normaliseEmail(account.email), created_at: clock.now() };
	return database.transact(async (trx) => {
		const created = await trx
			.insertInto('accounts')
			.values({ ...row, status: 'active' })
			.onConflict((conflict) => conflict.column('email').doNothing())
			.returningAll()
			.executeTakeFirst();
		if (!created) return null;
		const { id, role, plan } = created;
		const after = { account_id: id, role, plan };
		await audit.record(trx, { actor, action: 'account.created', reason, after });
		return created;
	});
}

type AccountChange =
	{ status: Account['status'] } | { role: Role } | { plan: Exclude<Account['plan'], 'portal'> };

const isActiveAdmin = ({ role, status }: Pick<Account, 'role' | 'status'>) =>
	role === 'admin' && status === 'active';

/**
 * Changes one field of an account. Administrators cannot change their own role or status, so one always remains: if two
 * suspend each other at once, only one transaction succeeds.
 * @param by id of the administrator's account
 * @returns false if the account has this value already
 * @throws Refused with a message for the administrator
 */
export function changeAccount(
	{ database, audit }: Base,
	id: number,
	change: AccountChange,
	{ by, note }: { by: number; note: string }
): Promise<boolean> {
	return database.transact(async (trx) => {
		await lockName(trx, 'changes of accounts');
		const [editor, account] = [await findById(trx, 'accounts', by), await findById(trx, 'accounts', id)];
		if (!editor || !isActiveAdmin(editor)) {
			throw refuse('Your account is not an active administrator any more.');
		}
		if (!account || account.plan === 'portal') throw refuse('This account cannot be changed.');
		const changed = { ...account, ...change };
		if (id === by && !isActiveAdmin(changed)) {
			throw refuse('You cannot suspend your own account or change its role. Ask another administrator.');
		}
		const [[field = '', value] = []] = Object.entries(change);
		const before = new Map<string, unknown>(Object.entries(account)).get(field);
		if (before === value) return false;
		// A person with a role of their own is on nobody's staff.
		const all = 'role' in change ? { ...change, employer_id: null, staff_role: null } : change;
		await trx.updateTable('accounts').set(all).where('id', '=', id).execute();
		await audit.record(trx, {
			...{ actor: accountActor(by), action: nameAction(change), reason: note },
			before: { account_id: id, [field]: before },
			after: { account_id: id, [field]: value }
		});
		return true;
	});
}

function nameAction(change: AccountChange): string {
	if ('status' in change) return change.status === 'active' ? 'account.restored' : 'account.suspended';
	return 'role' in change ? 'account.role_changed' : 'account.plan_changed';
}

/** People who sign in to a sandbox's demo data. */
export const DEMO_OWNER_EMAIL = 'owner@airtill.example';

export const DEMO_ACCOUNTS = [
	{ email: DEMO_OWNER_EMAIL, role: 'owner' },
	{ email: 'app@airtill.example', role: 'app' },
	{ email: 'admin@airtill.example', role: 'admin' }
] as const;

export const DEMO_EMAILS: readonly string[] = DEMO_ACCOUNTS.map(({ email }) => email);

export const hasDemoAccounts = async (base: Base): Promise<boolean> =>
	(await Promise.all(DEMO_EMAILS.map((email) => findAccountByEmail(base, email)))).some(
		(account) => account !== null
	);
