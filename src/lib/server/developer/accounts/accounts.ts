import type { Clock } from '#lib/server/platform/clock.ts';
import type { Role } from '#lib/server/api/contract/scopes.ts';
import type { Database } from '#lib/server/db/database.ts';
import * as store from './store.ts';

export type Account = store.Account;

export const PLANS = ['default', 'enterprise'] as const;
export const ROLES = ['app', 'owner', 'admin'] as const satisfies readonly Role[];

export interface Accounts {
	/** Creates an account; null if the e-mail address is taken. */
	create(account: { email: string; role: Role; plan: Account['plan'] }): Promise<Account | null>;
	find(id: number): Promise<Account | null>;
	findByEmail(email: string): Promise<Account | null>;
	/** Lists the first accounts of a role by id. */
	withRole(role: Role, limit: number): Promise<Account[]>;
}

/** People type their address in varying case. */
const normalise = (email: string) => email.trim().toLowerCase();

export function createAccounts(database: Database, clock: Clock): Accounts {
	return {
		create: ({ email, role, plan }) =>
			store.insert(database.db, {
				email: normalise(email),
				role,
				plan,
				status: 'active',
				created_at: clock.now()
			}),
		find: (id) => store.find(database.db, id),
		findByEmail: (email) => store.findByEmail(database.db, normalise(email)),
		withRole: (role, limit) => store.withRole(database.db, role, limit)
	};
}
