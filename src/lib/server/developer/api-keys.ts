import { lockName } from '#lib/server/db/locks.ts';
import type { Base } from '#lib/server/base.ts';
import { z } from 'zod';
import { type Caller, ROLES, hasRole } from '#lib/server/accounts/accounts.ts';
import { type Role, SCOPES, type Scope, findLeastRole } from '#lib/server/contract/scopes.ts';
import { crc32 } from 'node:zlib';
import { type Secrets, randomCharacters, sha256 } from '#lib/server/platform/secrets.ts';
import { accountActor } from '#lib/server/audit.ts';
import type { Queries, Tx } from '#lib/server/db/database.ts';
import { findById, countRows, exists, isChanged, insertRow } from '#lib/server/db/queries.ts';
import { Refused } from '#lib/server/platform/errors.ts';
import type { Row } from '#lib/server/db/schema.ts';

/**
 * API keys. A key is stored as a hash and shown once. The installation's own keys are derived from AIRTILL_SECRET, so
 * that every process has the same ones.
 */

/** Starts the names of Airtill's own keys. */
export const OWN_PREFIX = 'airtill:';

interface KnownKey {
	row: KeyWithAccount;
	caller: Caller;
	readAt: number;
}

export interface ApiKeys extends Base {
	/** Only keys of this mode work in this installation. */
	mode: KeyMode;
	/** By hash. Unknown keys are missing, so that a new key works at once. */
	cache: Map<string, KnownKey>;
}

export const createApiKeys = (base: Base): ApiKeys => ({
	...base,
	mode: base.config.mode === 'live' ? 'live' : 'test',
	cache: new Map()
});

const scopeList = z.array(z.enum(SCOPES));

const scopesOf = (role: Role): Scope[] => SCOPES.filter((scope) => hasRole(role, findLeastRole(scope)));

/**
 * Format: `atl_live_` or `atl_test_`, 30 random base62 characters (about 178 bits), and a CRC-32 of all that in
 * 6 base62 characters. Typing errors need no database query, and secret scanners recognise real keys.
 */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const PATTERN = /^atl_(live|test)_[0-9A-Za-z]{36}$/;

export type KeyMode = 'live' | 'test';

function checksum(text: string): string {
	let value = crc32(text);
	let digits = '';
	for (let i = 0; i < CHECKSUM_LENGTH; i += 1) {
		digits = ALPHABET.charAt(value % ALPHABET.length) + digits;
		value = Math.floor(value / ALPHABET.length);
	}
	return digits;
}

function assemble(mode: KeyMode, random: string): string {
	const text = `atl_${mode}_${random}`;
	return text + checksum(text);
}

export const generateKey = (mode: KeyMode): string =>
	assemble(mode, randomCharacters(ALPHABET, RANDOM_LENGTH));

/** Makes one of Airtill's own keys from at least 64 secret bytes. */
export function keyFromBytes(mode: KeyMode, bytes: Uint8Array): string {
	const limit = 256 - (256 % ALPHABET.length);
	const usable = [...bytes].filter((byte) => byte < limit).slice(0, RANDOM_LENGTH);
	if (usable.length < RANDOM_LENGTH) throw new Error('Too few bytes for a key');
	return assemble(mode, usable.map((byte) => ALPHABET.charAt(byte % ALPHABET.length)).join(''));
}

/** Returns null if the form or checksum is wrong. */
export function keyMode(key: string): KeyMode | null {
	const match = PATTERN.exec(key);
	if (!match) return null;
	if (key.slice(-CHECKSUM_LENGTH) !== checksum(key.slice(0, -CHECKSUM_LENGTH))) return null;
	return match[1] === 'live' ? 'live' : 'test';
}

/** For display, such as `atl_live_…Q7xd`. */
export const keyHint = (key: string): string => `${key.slice(0, 9)}…${key.slice(-4)}`;

interface NewKey {
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

type KeyProblem = 'name' | 'role' | 'scopes' | 'expiry' | 'form' | 'too_many' | 'already_created';

const refuseKey = (reason: KeyProblem, detail: string) => new Refused<KeyProblem>(reason, detail);

const MAX_KEY_NAME = 100;
/** Of an account. */
export const MAX_ACTIVE_KEYS = 20;
const DERIVED_BYTES = 64;
/** The key with which the pages of this installation call its API. */
export const PORTAL_KEY = `${OWN_PREFIX}portal`;

/** Returns the key's text, which is not stored. @throws Refused */
export async function createKey(context: ApiKeys, wanted: NewKey): Promise<string> {
	const { database, clock, mode, audit } = context;
	check(wanted, clock.now());
	const key = generateKey(mode);
	try {
		await database.transact(async (trx) => {
			await checkAccount(trx, wanted, clock.now());
			const { id, role, scopes } = await insertRow(trx, 'api_keys', rowOf(key, wanted, clock.now()));
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
	{ database, clock, secrets, mode }: ApiKeys,
	{ accountId, name, role }: { accountId: number; name: string; role: Role }
): Promise<string> {
	const keys = derivedBytes(secrets, name).map((bytes) => keyFromBytes(mode, bytes));
	const [key = ''] = keys;
	const hash = sha256(key);
	await database.transact(async (trx) => {
		await lockName(trx, `keys of ${accountId}`);
		const reinstate = trx.updateTable('api_keys').set({ revoked_at: null }).where('hash', '=', hash);
		if (await findByHash(trx, hash)) await reinstate.execute();
		else await insertRow(trx, 'api_keys', rowOf(key, { accountId, name, role }, clock.now()));
		await revokeOthers(trx, { accountId, name, exceptHashes: keys.map(sha256), now: clock.now() });
	});
	return key;
}

/** Checks the installation's secret on the keys of this name. Returns null when there is none. */
export async function isDerivedFrom(queries: Queries, secrets: Secrets, name: string) {
	const rows = await queries.selectFrom('api_keys').select('hash').where('name', '=', name).execute();
	const hashes = rows.map(({ hash }) => hash);
	if (hashes.length === 0) return null;
	return derivedBytes(secrets, name).some((bytes) =>
		(['live', 'test'] as const).some((mode) => hashes.includes(sha256(keyFromBytes(mode, bytes))))
	);
}

const derivedBytes = (secrets: Secrets, name: string) => secrets.deriveAll(`api-key:${name}`, DERIVED_BYTES);

function check({ name, role, scopes = [], expiresAt = null, formToken }: NewKey, now: number): void {
	if (name.trim() === '') throw refuseKey('name', 'Give the key a name.');
	if (name.length > MAX_KEY_NAME) {
		throw refuseKey('name', `Use at most ${MAX_KEY_NAME} characters.`);
	}
	if (name.startsWith(OWN_PREFIX)) {
		throw refuseKey('name', `Names that start with ${OWN_PREFIX} are reserved. Choose another name.`);
	}
	if (formToken !== undefined && !/^[a-z]{28}$/.test(formToken)) {
		throw refuseKey('form', 'This form is damaged. Open it again.');
	}
	if (scopes.some((scope) => !scopesOf(role).includes(scope))) {
		throw refuseKey(
			'scopes',
			`The role ${role} does not allow these scopes. Remove them or choose another role.`
		);
	}
	if (expiresAt !== null && expiresAt <= now) {
		throw refuseKey('expiry', 'This day has passed. Choose a later day.');
	}
}

async function checkAccount(trx: Tx, { accountId, role, formToken }: NewKey, now: number): Promise<void> {
	await lockName(trx, `keys of ${accountId}`);
	const account = await findById(trx, 'accounts', accountId);
	if (!account || !hasRole(account.role, role)) {
		throw refuseKey('role', `Keys of this account cannot have the role ${role}.`);
	}
	const keys = trx.selectFrom('api_keys').select('id').where('account_id', '=', accountId);
	if (formToken !== undefined && (await exists(keys.where('form_token', '=', formToken)))) {
		throw alreadyCreated();
	}
	if ((await countActive(trx, accountId, now)) >= MAX_ACTIVE_KEYS) {
		throw refuseKey('too_many', `An account can have ${MAX_ACTIVE_KEYS} active keys. Revoke one first.`);
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

const alreadyCreated = () => refuseKey('already_created', 'This form was already sent and created a key.');

/** A key that another process revoked works at most this long. */
const CACHE_MS = 5_000;
const CACHE_SIZE = 10_000;
const TOUCH_EVERY_MS = 60_000;

/** @throws Refused `missing_api_key` or `invalid_api_key` */
export async function authenticateKey(context: ApiKeys, authorization: string | null): Promise<Caller> {
	const header = authorization?.trim() ?? '';
	const key = /^bearer /i.test(header) ? header.slice('bearer '.length).trim() : '';
	if (key === '') {
		throw new Refused('missing_api_key', 'Send the header "Authorization: Bearer <API_KEY>".');
	}
	const found = await knownKey(context, key);
	const reason = refusalOf(found, context.clock.now());
	if (!found || reason !== null) {
		const detail = 'The API key is malformed, unknown, revoked or expired.';
		throw new Refused('invalid_api_key', detail, { cause: reason });
	}
	await touch(context, found.row);
	return found.caller;
}

/** For the log only. */
function refusalOf(found: KnownKey | null, now: number): string | null {
	if (!found) return 'unknown';
	const { id, revoked_at: revokedAt, expires_at: expiresAt } = found.row;
	if (revokedAt !== null) return `key ${id} is revoked`;
	return expiresAt !== null && expiresAt <= now ? `key ${id} has expired` : null;
}

async function knownKey({ database, cache, clock, mode }: ApiKeys, key: string): Promise<KnownKey | null> {
	const hash = sha256(key);
	const now = clock.now();
	const known = cache.get(hash);
	if (known && now - known.readAt < CACHE_MS) return known;
	if (keyMode(key) !== mode) return null;
	const row = await findByHash(database.db, hash);
	// Of requests at once, which each read the row, the first one writes the last use.
	const meanwhile = cache.get(hash);
	if (row && meanwhile && meanwhile !== known) row.last_used_at = meanwhile.row.last_used_at;
	cache.delete(hash);
	if (!row) return null;
	const found = { row, caller: callerOf(row), readAt: now };
	if (cache.size >= CACHE_SIZE) cache.clear();
	cache.set(hash, found);
	return found;
}

function callerOf(row: KeyWithAccount): Caller {
	const scopes = scopeList.parse(JSON.parse(row.scopes));
	return {
		accountId: row.account_id,
		keyId: row.id,
		role: hasRole(row.account_role, row.role) ? row.role : row.account_role,
		scopes: scopes.length > 0 ? new Set(scopes) : null,
		plan: row.plan,
		suspended: row.account_status === 'suspended'
	};
}

/** Records the time of use, for display: a call must not fail or wait for it. */
async function touch({ database, clock }: ApiKeys, key: KeyWithAccount): Promise<void> {
	const { id, last_used_at: last } = key;
	const now = clock.now();
	if (last !== null && now - last < TOUCH_EVERY_MS) return;
	key.last_used_at = now;
	const noted = database.writeBehind(async (trx) => {
		await trx.updateTable('api_keys').set({ last_used_at: now }).where('id', '=', id).execute();
	});
	await noted.catch(() => (key.last_used_at = last));
}

type ApiKey = Row<'api_keys'>;

/** Finds a key with what its account may do. Staff have no keys. */
const findByHash = (queries: Queries, hash: string) =>
	queries
		.selectFrom('api_keys')
		.innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
		.selectAll('api_keys')
		.select(['accounts.role as account_role', 'accounts.status as account_status', 'accounts.plan as plan'])
		.where('api_keys.hash', '=', hash)
		.where('accounts.role', '<>', 'staff')
		.$narrowType<{ account_role: ApiKey['role'] }>()
		.executeTakeFirst();

type KeyWithAccount = NonNullable<Awaited<ReturnType<typeof findByHash>>>;

/** Counts keys that are neither revoked nor expired, without Airtill's own. */
const countActive = (queries: Queries, accountId: number, now: number): Promise<number> =>
	countRows(
		queries
			.selectFrom('api_keys')
			.where(({ and }) => and({ account_id: accountId, revoked_at: null }))
			.where('name', 'not like', `${OWN_PREFIX}%`)
			.where((builder) => builder.or([builder('expires_at', 'is', null), builder('expires_at', '>', now)]))
	);

/** Revokes a key that this account created. Returns false if there is none. */
const revoke = (queries: Queries, key: { id: number; account_id: number }, now: number): Promise<boolean> =>
	isChanged(
		queries
			.updateTable('api_keys')
			.set({ revoked_at: now })
			.where(({ and }) => and({ ...key, revoked_at: null }))
			.where('name', 'not like', `${OWN_PREFIX}%`)
	);

const revokeOthers = (
	queries: Queries,
	key: { accountId: number; name: string; exceptHashes: readonly string[]; now: number }
) =>
	queries
		.updateTable('api_keys')
		.set({ revoked_at: key.now })
		.where(({ and }) => and({ account_id: key.accountId, name: key.name, revoked_at: null }))
		.where('hash', 'not in', key.exceptHashes)
		.execute();

const FORM_TOKEN_ALPHABET = 'abcdefghijklmnopqrstuvwxyz';
const FORM_TOKEN_LENGTH = 28;

export async function listKeys({ database: { db } }: ApiKeys, accountId: number): Promise<ApiKey[]> {
	return db.selectFrom('api_keys').selectAll().where('account_id', '=', accountId).orderBy('id').execute();
}

/** Empty: every scope of the key's role. */
export function readKeyScopes({ scopes }: ApiKey): Scope[] {
	return scopeList.parse(JSON.parse(scopes));
}

export function isOwnKey({ name }: ApiKey): boolean {
	return name.startsWith(OWN_PREFIX);
}

/** A form that is sent twice creates one key. */
export function createFormToken(): string {
	return randomCharacters(FORM_TOKEN_ALPHABET, FORM_TOKEN_LENGTH);
}

export function listKeyChoices(role: Role): { roles: Role[]; scopes: Scope[] } {
	return { roles: ROLES.filter((one) => hasRole(role, one)), scopes: scopesOf(role) };
}

/** `other-mode`: the key does not work in this installation. */
export function computeKeyState(
	{ clock, mode }: ApiKeys,
	{ hint, revoked_at: revokedAt, expires_at: expiresAt }: ApiKey
): 'active' | 'expired' | 'revoked' | 'other-mode' {
	if (revokedAt !== null) return 'revoked';
	if (expiresAt !== null && expiresAt <= clock.now()) return 'expired';
	return hint.startsWith(`atl_${mode}_`) ? 'active' : 'other-mode';
}

/** Returns false if the account has created no such key, or if it is revoked. */
export async function revokeOwnKey(
	{ database, clock, cache, audit }: ApiKeys,
	accountId: number,
	id: number
): Promise<boolean> {
	const isRevoked = await database.transact(async (trx) => {
		if (!(await revoke(trx, { id, account_id: accountId }, clock.now()))) return false;
		await audit.record(trx, { actor: accountActor(accountId), action: 'key.revoked', after: { key_id: id } });
		return true;
	});
	cache.clear();
	return isRevoked;
}
