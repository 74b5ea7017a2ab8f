import type { Base } from '#lib/server/base.ts';
import { accountActor } from '#lib/server/audit/audit.ts';
import { hasRole, ROLES } from '#lib/server/accounts/accounts.ts';
import type { Role } from '#lib/server/contract/scopes.ts';
import { binder } from '#lib/server/platform/bind.ts';
import { randomCharacters } from '#lib/server/platform/ids.ts';
import { authenticate } from './authenticate.ts';
import { scopeList, scopesOf, type KeysContext } from './context.ts';
import { createKey, ensureDerivedKey } from './create-key.ts';
import * as store from './store.ts';

export { OWN_PREFIX } from './store.ts';
export { isDerivedFrom, KeyRefused, PORTAL_KEY, type NewKey } from './create-key.ts';

const FORM_TOKEN_ALPHABET = 'abcdefghijklmnopqrstuvwxyz';
const FORM_TOKEN_LENGTH = 28;

export type ApiKeys = ReturnType<typeof createApiKeys>;

export function createApiKeys(base: Base) {
	const context: KeysContext = {
		...base,
		mode: base.config.mode === 'live' ? 'live' : 'test',
		cache: new Map()
	};
	const bind = binder(context);
	return {
		/** Only keys of this mode work in this installation. */
		mode: context.mode,
		create: bind(createKey),
		ensureDerived: bind(ensureDerivedKey),
		authenticate: bind(authenticate),
		revokeOwn: bind(revokeOwn),
		stateOf: bind(stateOf),
		list: (accountId: number) => store.list(context.database.db, accountId),
		/** Empty: every scope of the key's role. */
		scopesIn: ({ scopes }: store.ApiKey) => scopeList.parse(JSON.parse(scopes)),
		isOwn: ({ name }: store.ApiKey) => name.startsWith(store.OWN_PREFIX),
		formToken: () => randomCharacters(FORM_TOKEN_ALPHABET, FORM_TOKEN_LENGTH),
		choices: (role: Role) => ({ roles: ROLES.filter((one) => hasRole(role, one)), scopes: scopesOf(role) })
	};
}

/** `other-mode`: the key does not work in this installation. */
function stateOf(
	{ clock, mode }: KeysContext,
	{ hint, revoked_at: revokedAt, expires_at: expiresAt }: store.ApiKey
): 'active' | 'expired' | 'revoked' | 'other-mode' {
	if (revokedAt !== null) return 'revoked';
	if (expiresAt !== null && expiresAt <= clock.now()) return 'expired';
	return hint.startsWith(`atl_${mode}_`) ? 'active' : 'other-mode';
}

/** Returns false if the account has created no such key, or if it is revoked. */
async function revokeOwn(
	{ database, clock, cache, audit }: KeysContext,
	accountId: number,
	id: number
): Promise<boolean> {
	const isRevoked = await database.transact(async (trx) => {
		if (!(await store.revoke(trx, { id, account_id: accountId }, clock.now()))) return false;
		await audit.record(trx, { actor: accountActor(accountId), action: 'key.revoked', after: { key_id: id } });
		return true;
	});
	cache.clear();
	return isRevoked;
}
