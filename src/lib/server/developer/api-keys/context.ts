import type { Base } from '#lib/server/base.ts';
import { z } from 'zod';
import { roleOf, SCOPES, type Role, type Scope } from '#lib/server/contract/scopes.ts';
import type { Account } from '../../accounts/accounts.ts';
import type { KeyMode } from './key-format.ts';
import type * as store from './store.ts';

export type RatePlan = 'default' | 'enterprise' | 'portal';

export interface Caller {
	accountId: number;
	keyId: number;
	role: Role;
	/** null: every scope of the role. */
	scopes: ReadonlySet<Scope> | null;
	plan: RatePlan;
	suspended: boolean;
}

export interface KnownKey {
	row: store.KeyWithAccount;
	caller: Caller;
	readAt: number;
}

export interface KeysContext extends Base {
	mode: KeyMode;
	/** By hash. Unknown keys are missing, so that a new key works at once. */
	cache: Map<string, KnownKey>;
}

export const scopeList = z.array(z.enum(SCOPES));

/** Staff have no API keys. */
const ROLE_RANK: Record<Account['role'], number> = { staff: -1, app: 0, owner: 1, admin: 2 };

export const hasRole = (role: Account['role'], needed: Role): boolean => ROLE_RANK[role] >= ROLE_RANK[needed];

export const scopesOf = (role: Role): Scope[] => SCOPES.filter((scope) => hasRole(role, roleOf(scope)));
