import type { Insertable, Selectable } from 'kysely';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Role } from '#lib/server/api/contract/scopes.ts';
import type { Database } from '#lib/server/db/database.ts';
import type { AccountsTable } from '#lib/server/db/schema.ts';

export type Account = Selectable<AccountsTable>;

export const PLANS = ['default', 'enterprise'] as const;
export const ROLES = ['app', 'owner', 'admin'] as const satisfies readonly Role[];

export type Accounts = ReturnType<typeof createAccounts>;

/** People type their address in varying case. */
const normalise = (email: string) => email.trim().toLowerCase();

export function createAccounts({ db }: Database, clock: Clock) {
	const accounts = () => db.selectFrom('accounts').selectAll();
	return {
		/** Returns null if the e-mail address is taken. */
		async create(account: Pick<Account, 'email' | 'role' | 'plan'>): Promise<Account | null> {
			const row: Insertable<AccountsTable> = {
				...account,
				email: normalise(account.email),
				status: 'active',
				created_at: clock.now()
			};
			const created = await db
				.insertInto('accounts')
				.values(row)
				.onConflict((conflict) => conflict.column('email').doNothing())
				.returningAll()
				.executeTakeFirst();
			return created ?? null;
		},
		find: async (id: number): Promise<Account | null> =>
			(await accounts().where('id', '=', id).executeTakeFirst()) ?? null,
		findByEmail: async (email: string): Promise<Account | null> =>
			(await accounts().where('email', '=', normalise(email)).executeTakeFirst()) ?? null,
		withRole: (role: Role, limit: number): Promise<Account[]> =>
			accounts().where('role', '=', role).orderBy('id').limit(limit).execute()
	};
}
