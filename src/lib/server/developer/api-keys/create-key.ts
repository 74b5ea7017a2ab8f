import { accountActor } from '#lib/server/audit/audit.ts';
import { MAX_ACTIVE_KEYS } from '#lib/server/config/limits.ts';
import type { Role, Scope } from '#lib/server/contract/scopes.ts';
import type { Queries, Tx } from '#lib/server/db/database.ts';
import { byId } from '#lib/server/db/first.ts';
import { Refusal } from '#lib/server/platform/errors.ts';
import { sha256, type Secrets } from '#lib/server/platform/secrets.ts';
import { hasRole } from '#lib/server/accounts/accounts.ts';
import { scopesOf, type KeysContext } from './context.ts';
import { generateKey, keyFromBytes, keyHint } from './key-format.ts';
import * as store from './store.ts';

export interface NewKey {
	accountId: number;
	name: string;
	/** Not above the account's role. */
	role: Role;
	/** Empty: every scope of the role. */
	scopes?: readonly Scope[];
	/** ms since the epoch; null: never. */
	expiresAt?: number | null;
	/** From `formToken()`, so that a form that is sent twice creates one key. */
	formToken?: string;
	/** For the audit log; by default the account. */
	actor?: string;
}

export class KeyRefused extends Refusal<
	'name' | 'role' | 'scopes' | 'expiry' | 'form' | 'too_many' | 'already_created'
> {}

const MAX_KEY_NAME = 100;
const DERIVED_BYTES = 64;
/** The key with which the pages of this installation call its API. */
export const PORTAL_KEY = `${store.OWN_PREFIX}portal`;

/** Returns the key's text, which is not stored. @throws KeyRefused */
export async function createKey(context: KeysContext, wanted: NewKey): Promise<string> {
	const { database, clock, mode, audit } = context;
	check(wanted, clock.now());
	const key = generateKey(mode);
	try {
		await database.transact(async (trx) => {
			await checkAccount(trx, wanted, clock.now());
			const { id, role, scopes } = await store.insert(trx, rowOf(key, wanted, clock.now()));
			await audit.record(trx, {
				actor: wanted.actor ?? accountActor(wanted.accountId),
				action: 'key.created',
				after: { key_id: id, account_id: wanted.accountId, role, scopes }
			});
		});
	} catch (error) {
		// Of two submissions at the same moment, the unique index accepts one.
		if (wanted.formToken !== undefined && database.isUniqueViolation(error)) throw alreadyCreated();
		throw error;
	}
	return key;
}

/**
 * Creates or reinstates the key derived from AIRTILL_SECRET. Revokes the account's others of this name, except for that
 * of AIRTILL_SECRET_FALLBACK, which another process may use.
 */
export async function ensureDerivedKey(
	{ database, clock, secrets, mode }: KeysContext,
	{ accountId, name, role }: { accountId: number; name: string; role: Role }
): Promise<string> {
	const keys = derivedBytes(secrets, name).map((bytes) => keyFromBytes(mode, bytes));
	const [key = ''] = keys;
	const hash = sha256(key);
	await database.transact(async (trx) => {
		if (await store.findByHash(trx, hash)) await store.reinstate(trx, hash);
		else await store.insert(trx, rowOf(key, { accountId, name, role }, clock.now()));
		await store.revokeOthers(trx, { accountId, name, exceptHashes: keys.map(sha256), now: clock.now() });
	});
	return key;
}

/** Checks the installation's secret on the keys of this name. Returns null when there is none. */
export async function isDerivedFrom(
	queries: Queries,
	secrets: Secrets,
	name: string
): Promise<boolean | null> {
	const hashes = await store.hashesOf(queries, name);
	if (hashes.length === 0) return null;
	return derivedBytes(secrets, name).some((bytes) =>
		(['live', 'test'] as const).some((mode) => hashes.includes(sha256(keyFromBytes(mode, bytes))))
	);
}

const derivedBytes = (secrets: Secrets, name: string) => secrets.deriveAll(`api-key:${name}`, DERIVED_BYTES);

function check({ name, role, scopes = [], expiresAt = null, formToken }: NewKey, now: number): void {
	if (name.trim() === '') throw new KeyRefused('name', 'Give the key a name.');
	if (name.length > MAX_KEY_NAME) {
		throw new KeyRefused('name', `Use at most ${MAX_KEY_NAME} characters.`);
	}
	if (name.startsWith(store.OWN_PREFIX)) {
		throw new KeyRefused(
			'name',
			`Names that start with ${store.OWN_PREFIX} are reserved. Choose another name.`
		);
	}
	if (formToken !== undefined && !/^[a-z]{28}$/.test(formToken)) {
		throw new KeyRefused('form', 'This form is damaged. Open it again.');
	}
	if (scopes.some((scope) => !scopesOf(role).includes(scope))) {
		throw new KeyRefused(
			'scopes',
			`The role ${role} does not allow these scopes. Remove them or choose another role.`
		);
	}
	if (expiresAt !== null && expiresAt <= now) {
		throw new KeyRefused('expiry', 'This day has passed. Choose a later day.');
	}
}

async function checkAccount(trx: Tx, { accountId, role, formToken }: NewKey, now: number): Promise<void> {
	const account = await byId(trx, 'accounts', accountId);
	if (!account || !hasRole(account.role, role)) {
		throw new KeyRefused('role', `Keys of this account cannot have the role ${role}.`);
	}
	if (formToken !== undefined && (await store.hasForm(trx, accountId, formToken))) throw alreadyCreated();
	if ((await store.countActive(trx, accountId, now)) >= MAX_ACTIVE_KEYS) {
		throw new KeyRefused('too_many', `An account can have ${MAX_ACTIVE_KEYS} active keys. Revoke one first.`);
	}
}

const rowOf = (
	key: string,
	{ accountId, name, role, scopes = [], expiresAt = null, formToken }: NewKey,
	now: number
) => ({
	account_id: accountId,
	name,
	hash: sha256(key),
	hint: keyHint(key),
	role,
	scopes: JSON.stringify(scopes),
	created_at: now,
	expires_at: expiresAt,
	last_used_at: null,
	revoked_at: null,
	form_token: formToken ?? null
});

const alreadyCreated = () =>
	new KeyRefused('already_created', 'This form was already sent and created a key.');
