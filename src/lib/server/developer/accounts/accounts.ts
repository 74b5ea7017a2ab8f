import type { Base } from '#lib/server/base.ts';
import { sql, type Selectable } from 'kysely';
import type { Role } from '#lib/server/api/contract/scopes.ts';
import { byId, given } from '#lib/server/db/first.ts';
import type { AccountsTable } from '#lib/server/db/schema.ts';
import { binder } from '#lib/server/platform/bind.ts';
import { changeAccount } from './change-account.ts';

export { AccountChangeRefused } from './change-account.ts';

export type Account = Selectable<AccountsTable>;

export const PLANS = ['default', 'enterprise'] as const;
export const ROLES = ['app', 'owner', 'admin'] as const satisfies readonly Role[];

export type Accounts = ReturnType<typeof createAccounts>;

/** People type their address in varying case. */
const normalise = (email: string) => email.trim().toLowerCase();

export function createAccounts(context: Base) {
	const { database, clock, audit } = context;
	const { db } = database;
	const bind = binder(context);
	const accounts = () => db.selectFrom('accounts').selectAll();
	return {
		/**
		 * Returns null if the e-mail address is taken.
		 * @param actor who creates it, for the audit log
		 */
		async create(
			account: Pick<Account, 'email' | 'role' | 'plan'>,
			actor = 'airtill',
			reason = ''
		): Promise<Account | null> {
			const email = normalise(account.email);
			return database.transact(async (trx) => {
				const created = await trx
					.insertInto('accounts')
					.values({ ...account, email, status: 'active', created_at: clock.now() })
					.onConflict((conflict) => conflict.column('email').doNothing())
					.returningAll()
					.executeTakeFirst();
				if (!created) return null;
				const { id, role, plan } = created;
				const after = { account_id: id, role, plan };
				await audit.record(trx, { actor, action: 'account.created', reason, after });
				return created;
			});
		},
		find: async (id: number): Promise<Account | null> => (await byId(db, 'accounts', id)) ?? null,
		findByEmail: async (email: string): Promise<Account | null> =>
			(await accounts().where('email', '=', normalise(email)).executeTakeFirst()) ?? null,
		withRole: (role: Role, limit: number): Promise<Account[]> =>
			accounts().where('role', '=', role).orderBy('id').limit(limit).execute(),
		/** Lists accounts of people, newest first. @param email a part of the address; '' for any */
		search(
			{
				email,
				role,
				status
			}: { email: string; role: Account['role'] | null; status: Account['status'] | null },
			{ before, limit }: { before: number | null; limit: number }
		): Promise<Account[]> {
			const part = `%${email.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
			return accounts()
				.where('plan', '<>', 'portal')
				.where(sql<boolean>`email like ${part} escape '\\'`)
				.where(({ and }) => and(given({ role, status })))
				.where('id', '<', before ?? Number.MAX_SAFE_INTEGER)
				.orderBy('id', 'desc')
				.limit(limit)
				.execute();
		},
		change: bind(changeAccount)
	};
}
