import type { Role, Scope } from '#lib/server/api/contract/scopes.ts';
import type { Database } from '#lib/server/db/database.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import { randomCharacters } from '#lib/server/platform/ids.ts';
import { sha256, type Secrets } from '#lib/server/platform/secrets.ts';
import { authenticate } from './authenticate.ts';
import { OWN_PREFIX, scopeList, type Caller, type KeysContext } from './context.ts';
import { createKey, ensureDerivedKey, type NewKey } from './create-key.ts';
import { keyMode, type KeyMode } from './key-format.ts';
import { hasRole, ROLES, scopesOf } from './roles.ts';
import * as store from './store.ts';

export { OWN_PREFIX, type Caller, type Plan } from './context.ts';
export { KeyRefused, MAX_KEY_NAME, MAX_LIVE_KEYS, type NewKey } from './create-key.ts';
export { hasRole } from './roles.ts';

export interface ApiKeys {
	/** Creates a key and returns its text, which is not stored. @throws KeyRefused */
	create(key: NewKey): Promise<string>;
	/**
	 * Creates or reinstates the key that is derived from AIRTILL_SECRET, and revokes the account's other keys of this
	 * name, for example those of an earlier secret.
	 */
	ensureDerived(key: { accountId: number; name: string; role: Role }): Promise<string>;
	/**
	 * Finds the caller for an `Authorization` header.
	 *
	 * @throws AppError `missing_api_key` or `invalid_api_key`
	 */
	authenticate(authorization: string | null): Promise<Caller>;
	/** Revokes a key that the account created. Returns false if it has no such live key. */
	revokeOwn(accountId: number, id: number): Promise<boolean>;
	/** Revokes a key by its text or id. Returns false if there is no such live key. */
	revoke(keyOrId: string): Promise<boolean>;
	list(accountId: number): Promise<store.ApiKey[]>;
	/** Reads the scopes of a listed key; empty: every scope of its role. */
	scopesIn(key: store.ApiKey): Scope[];
	/** True if Airtill created the key for itself. */
	isOwn(key: store.ApiKey): boolean;
	/** Creates the token of one key form. */
	formToken(): string;
	/** Roles and scopes that keys of an account with this role may have. */
	choices(role: Role): { roles: Role[]; scopes: Scope[] };
	/** Only keys of this mode work in this installation. */
	readonly mode: KeyMode;
}

const FORM_TOKEN_ALPHABET = 'abcdefghijklmnopqrstuvwxyz';
const FORM_TOKEN_LENGTH = 28;

export function createApiKeys(
	database: Database,
	clock: Clock,
	secrets: Secrets,
	mode: 'sandbox' | 'live'
): ApiKeys {
	const context: KeysContext = {
		database,
		clock,
		secrets,
		mode: mode === 'live' ? 'live' : 'test',
		cache: new Map(),
		touched: new Map()
	};
	return {
		mode: context.mode,
		create: (key) => createKey(context, key),
		ensureDerived: (key) => ensureDerivedKey(context, key),
		authenticate: (authorization) => authenticate(context, authorization),
		revokeOwn: (accountId, id) => revokeOwn(context, accountId, id),
		revoke: (keyOrId) => revoke(context, keyOrId),
		list: (accountId) => store.list(database.db, accountId),
		scopesIn: ({ scopes }) => scopeList.parse(JSON.parse(scopes)),
		formToken: () => randomCharacters(FORM_TOKEN_ALPHABET, FORM_TOKEN_LENGTH),
		choices: (role) => ({ roles: ROLES.filter((one) => hasRole(role, one)), scopes: scopesOf(role) }),
		isOwn: ({ name }) => name.startsWith(OWN_PREFIX)
	};
}

async function revokeOwn({ database, clock, cache }: KeysContext, accountId: number, id: number) {
	const key = { accountId, id, now: clock.now(), except: OWN_PREFIX };
	const revoked = await store.revokeOwn(database.db, key);
	cache.clear();
	return revoked > 0;
}

async function revoke({ database, clock, cache }: KeysContext, keyOrId: string) {
	const hash = keyMode(keyOrId) ? sha256(keyOrId) : null;
	const id = hash ? (await store.findByHash(database.db, hash))?.id : Number(keyOrId);
	if (id === undefined || !Number.isSafeInteger(id)) return false;
	cache.clear();
	return (await store.revoke(database.db, id, clock.now())) > 0;
}
