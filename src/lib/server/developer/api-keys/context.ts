import type { Base } from '#lib/server/base.ts';
import { z } from 'zod';
import { hasRole, type Caller } from '#lib/server/accounts/accounts.ts';
import { roleOf, SCOPES, type Role, type Scope } from '#lib/server/contract/scopes.ts';
import type { KeyMode } from './key-format.ts';
import type * as store from './store.ts';

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

export const scopesOf = (role: Role): Scope[] => SCOPES.filter((scope) => hasRole(role, roleOf(scope)));
