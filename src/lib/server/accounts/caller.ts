import type { Role, Scope } from '#lib/server/contract/scopes.ts';
import type { Account } from './accounts.ts';

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
