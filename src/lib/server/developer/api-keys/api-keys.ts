import { ROLES } from '../accounts/accounts.ts';
import type { Role } from '#lib/server/api/contract/scopes.ts';
import type { Database } from '#lib/server/db/database.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import { randomCharacters } from '#lib/server/platform/ids.ts';
import { sha256, type Secrets } from '#lib/server/platform/secrets.ts';
import { authenticate } from './authenticate.ts';
import { hasRole, OWN_PREFIX, scopeList, scopesOf, type KeysContext } from './context.ts';
import { createKey, ensureDerivedKey, type NewKey } from './create-key.ts';
import { keyMode } from './key-format.ts';
import * as store from './store.ts';

export { hasRole, OWN_PREFIX, type Caller, type Plan } from './context.ts';
export { KeyRefused, MAX_KEY_NAME, MAX_LIVE_KEYS, type NewKey } from './create-key.ts';

const FORM_TOKEN_ALPHABET = 'abcdefghijklmnopqrstuvwxyz';
const FORM_TOKEN_LENGTH = 28;

export type ApiKeys = ReturnType<typeof createApiKeys>;

export function createApiKeys(database: Database, clock: Clock, secrets: Secrets, mode: 'sandbox' | 'live') {
	const context: KeysContext = {
		database,
		clock,
		secrets,
		mode: mode === 'live' ? 'live' : 'test',
		cache: new Map(),
		touched: new Map()
	};
	return {
		/** Only keys of this mode work in this installation. */
		mode: context.mode,
		create: (key: NewKey) => createKey(context, key),
		ensureDerived: (key: { accountId: number; name: string; role: Role }) => ensureDerivedKey(context, key),
		authenticate: (authorization: string | null) => authenticate(context, authorization),
		revokeOwn: (accountId: number, id: number) => revokeOwn(context, accountId, id),
		revoke: (keyOrId: string) => revoke(context, keyOrId),
		list: (accountId: number) => store.list(database.db, accountId),
		/** Empty: every scope of the key's role. */
		scopesIn: ({ scopes }: store.ApiKey) => scopeList.parse(JSON.parse(scopes)),
		/** True if Airtill created the key for itself. */
		isOwn: ({ name }: store.ApiKey) => name.startsWith(OWN_PREFIX),
		formToken: () => randomCharacters(FORM_TOKEN_ALPHABET, FORM_TOKEN_LENGTH),
		choices: (role: Role) => ({ roles: ROLES.filter((one) => hasRole(role, one)), scopes: scopesOf(role) })
	};
}

/** Returns false if the account has created no such live key. */
async function revokeOwn({ database, clock, cache }: KeysContext, accountId: number, id: number) {
	const ofAccount = { id: accountId, except: OWN_PREFIX };
	const revoked = await store.revoke(database.db, { id, now: clock.now(), ofAccount });
	cache.clear();
	return revoked > 0;
}

/** Revokes a key by its text or id. Returns false without such a live key. */
async function revoke({ database, clock, cache }: KeysContext, keyOrId: string) {
	const hash = keyMode(keyOrId) ? sha256(keyOrId) : null;
	const id = hash ? (await store.findByHash(database.db, hash))?.id : Number(keyOrId);
	if (id === undefined || !Number.isSafeInteger(id)) return false;
	cache.clear();
	return (await store.revoke(database.db, { id, now: clock.now() })) > 0;
}
