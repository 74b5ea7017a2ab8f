import { normaliseEmail } from '#lib/domain/email.ts';
import type { Base } from '#lib/server/base.ts';
import { sql, type Selectable } from 'kysely';
import type { Role } from '#lib/server/contract/scopes.ts';
import { findById, first, withoutNulls } from '#lib/server/db/queries.ts';
import type { AccountsTable } from '#lib/server/db/schema.ts';
import { binder } from '#lib/server/platform/bind.ts';
import { changeAccount } from './change-account.ts';
import {
	acceptInvitation,
	changeStaffRole,
	findInvitation,
	invitationsOf,
	inviteStaff,
	removeStaff,
	setInvitationToken,
	staffOf,
	withdrawInvitation
} from './staff.ts';

export { hasRole, type Caller, type RatePlan } from './caller.ts';
export { AccountChangeRefused } from './change-account.ts';
export {
	canJoin,
	MAX_STAFF,
	STAFF_ROLES,
	StaffRefused,
	type Employer,
	type Invitation,
	type StaffRole
} from './staff.ts';

export type Account = Selectable<AccountsTable>;
export type NewAccount = Pick<Account, 'email' | 'plan'> & { role: Role };

export const RATE_PLANS = ['default', 'enterprise'] as const;
export const ROLES = ['app', 'owner', 'admin'] as const satisfies readonly Role[];

export type Accounts = ReturnType<typeof createAccounts>;

export function createAccounts(context: Base) {
	const { db } = context.database;
	const bind = binder(context);
	const accounts = () => db.selectFrom('accounts').selectAll();
	const create = bind(createAccount);
	const findByEmail = (email: string): Promise<Account | null> =>
		first(accounts().where('email', '=', normaliseEmail(email)));
	return {
		create,
		find: async (id: number): Promise<Account | null> => (await findById(db, 'accounts', id)) ?? null,
		findByEmail,
		/** Returns the account of an email address. Creates it if there is none. */
		async ensure(account: NewAccount, actor?: string): Promise<Account> {
			const known = (await findByEmail(account.email)) ?? (await create(account, actor));
			// Another process created it meanwhile.
			const found = known ?? (await findByEmail(account.email));
			if (!found) throw new Error('An account can neither be found nor created');
			return found;
		},
		withRole: (role: Role, limit: number): Promise<Account[]> =>
			accounts().where('role', '=', role).orderBy('id').limit(limit).execute(),
		/** Lists accounts of people, newest first. @param filter.email a part of the address; '' for any */
		search(
			filter: { email: string; role: Account['role'] | null; status: Account['status'] | null },
			{ before, limit }: { before: number | null; limit: number }
		): Promise<Account[]> {
			const { email, ...fields } = filter;
			const part = `%${email.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
			return accounts()
				.where('plan', '<>', 'portal')
				.where(sql<boolean>`email like ${part} escape '\\'`)
				.where(({ and }) => and(withoutNulls(fields)))
				.where('id', '<', before ?? Number.MAX_SAFE_INTEGER)
				.orderBy('id', 'desc')
				.limit(limit)
				.execute();
		},
		change: bind(changeAccount),
		staffOf: bind(staffOf),
		invitationsOf: bind(invitationsOf),
		inviteStaff: bind(inviteStaff),
		withdrawInvitation: bind(withdrawInvitation),
		setInvitationToken: bind(setInvitationToken),
		findInvitation: bind(findInvitation),
		acceptInvitation: bind(acceptInvitation),
		changeStaffRole: bind(changeStaffRole),
		removeStaff: bind(removeStaff)
	};
}

/** Returns null if the email address is taken. @param actor who creates it, for the audit log */
function createAccount(
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
