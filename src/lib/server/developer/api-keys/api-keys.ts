import { z } from 'zod';
import type { Clock } from '#lib/server/platform/clock.ts';
import { SCOPES, type Role, type Scope } from '#lib/server/api/contract/routes.ts';
import type { Database } from '#lib/server/db/database.ts';
import { AppError } from '#lib/server/platform/errors.ts';
import { randomCharacters } from '#lib/server/platform/ids.ts';
import { sha256, type Secrets } from '#lib/server/platform/secrets.ts';
import { generateKey, keyFromBytes, keyHint, keyMode, type KeyMode } from './key-format.ts';
import * as store from './store.ts';

export type Plan = 'default' | 'enterprise' | 'portal';

/** Who calls: an account through one of its keys. */
export interface Caller {
	accountId: number;
	keyId: number;
	role: Role;
	/** null: all scopes of the role. */
	scopes: ReadonlySet<Scope> | null;
	plan: Plan;
	suspended: boolean;
}

export interface ApiKeys {
	/** Makes a key; the returned text is shown this once and never again. @throws KeyRefused */
	create(key: NewKey): Promise<string>;
	/**
	 * Makes sure that a key which Airtill derives from its secret is alive, and the only one of its name: a key of
	 * an earlier secret ends here, and comes back should that secret.
	 */
	ensureDerived(key: { accountId: number; name: string; role: Role }): Promise<string>;
	/**
	 * The caller behind an `Authorization` header.
	 * @throws AppError `missing_api_key` or `invalid_api_key`
	 */
	authenticate(authorization: string | null): Promise<Caller>;
	/** Revokes a key of an account, one that it made itself. @returns false when it has no such live key */
	revokeOwn(accountId: number, id: number): Promise<boolean>;
	/** Revokes a key by its text or its id. @returns false when there is no such live key */
	revoke(keyOrId: string): Promise<boolean>;
	list(accountId: number): Promise<store.ApiKey[]>;
	/** Scopes of a listed key; none: all of its role. */
	scopesIn(key: store.ApiKey): Scope[];
	/** Whether Airtill made a key for itself. */
	isOwn(key: store.ApiKey): boolean;
	/** Names one form that makes a key. */
	formToken(): string;
	/** What keys of an account of this role may have. */
	choices(role: Role): { roles: Role[]; scopes: Scope[] };
	/** Keys of this kind work here; those of the other kind do not. */
	readonly mode: KeyMode;
}

export interface NewKey {
	accountId: number;
	name: string;
	/** At most the account's own. */
	role: Role;
	/** None: all of the role. */
	scopes?: readonly Scope[];
	/** Epoch milliseconds; null: it works until it is revoked. */
	expiresAt?: number | null;
	/** A form makes one key, however often it is sent (see `formToken()`). */
	formToken?: string;
}

/** Why a key is not made. */
export class KeyRefused extends Error {
	readonly reason: 'name' | 'role' | 'scopes' | 'expiry' | 'form' | 'too_many' | 'made_already';

	constructor(reason: KeyRefused['reason'], message: string) {
		super(message);
		this.name = 'KeyRefused';
		this.reason = reason;
	}
}

export const MAX_LIVE_KEYS = 20;
export const MAX_KEY_NAME = 100;
/** Begins the names of keys that Airtill makes for itself. */
export const OWN_PREFIX = 'airtill:';

/** A revoked key works at most this long (in other processes; here it stops at once). */
const CACHE_MS = 5_000;
const CACHE_SIZE = 10_000;
const TOUCH_EVERY_MS = 60_000;
const DERIVED_BYTES = 64;
const FORM_TOKEN_ALPHABET = 'abcdefghijklmnopqrstuvwxyz';
const FORM_TOKEN_LENGTH = 28;

const ROLES = ['app', 'owner', 'admin'] as const;
const ROLE_RANK: Record<Role, number> = { app: 0, owner: 1, admin: 2 };
/** What a scope is about is closed to lesser roles, whatever the key says. */
const neededRole = (scope: Scope): Role => (scope.startsWith('owner:') ? 'owner' : 'app');

/** Scopes that a key of a role can use. */
const scopesOf = (role: Role): Scope[] => SCOPES.filter((scope) => hasRole(role, neededRole(scope)));

const scopeList = z.array(z.enum(SCOPES));

export const hasRole = (role: Role, needed: Role): boolean => ROLE_RANK[role] >= ROLE_RANK[needed];

interface KnownKey {
	row: store.KeyWithAccount;
	caller: Caller;
}

function callerOf(row: store.KeyWithAccount): Caller {
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

export function createApiKeys(
	database: Database,
	clock: Clock,
	secrets: Secrets,
	mode: 'sandbox' | 'live'
): ApiKeys {
	const keyModeHere: KeyMode = mode === 'live' ? 'live' : 'test';
	/** Only keys that were found, never misses: a new key works at once. */
	const cache = new Map<string, { found: KnownKey; readAt: number }>();
	const touched = new Map<number, number>();

	const rowFor = (
		key: string,
		{ accountId, name, role, scopes = [], expiresAt = null, formToken }: NewKey
	) => ({
		account_id: accountId,
		name,
		hash: sha256(key),
		hint: keyHint(key),
		role,
		scopes: JSON.stringify(scopes),
		created_at: clock.now(),
		expires_at: expiresAt,
		last_used_at: null,
		revoked_at: null,
		form_token: formToken ?? null
	});

	/** @throws KeyRefused */
	function check({ name, role, scopes = [], expiresAt = null, formToken }: NewKey): void {
		if (name.trim() === '') throw new KeyRefused('name', 'Give the key a name.');
		if (name.length > MAX_KEY_NAME) {
			throw new KeyRefused('name', `Use at most ${MAX_KEY_NAME} characters.`);
		}
		if (name.startsWith(OWN_PREFIX)) {
			throw new KeyRefused('name', `Names that begin with ${OWN_PREFIX} are Airtill's own.`);
		}
		if (formToken !== undefined && !/^[a-z]{28}$/.test(formToken)) {
			throw new KeyRefused('form', 'This form is broken. Open it again.');
		}
		if (scopes.some((scope) => !scopesOf(role).includes(scope))) {
			throw new KeyRefused('scopes', `A key of role ${role} cannot use these scopes.`);
		}
		if (expiresAt !== null && expiresAt <= clock.now()) {
			throw new KeyRefused('expiry', 'Choose a day that is still to come.');
		}
	}

	function remembered(hash: string): KnownKey | null {
		const now = clock.now();
		const cached = cache.get(hash);
		return cached && now - cached.readAt < CACHE_MS ? cached.found : null;
	}

	async function find(hash: string): Promise<KnownKey | null> {
		const now = clock.now();
		const row = await store.findByHash(database.db, hash);
		cache.delete(hash);
		if (!row) return null;
		const found = { row, caller: callerOf(row) };
		if (cache.size >= CACHE_SIZE) cache.clear();
		cache.set(hash, { found, readAt: now });
		return found;
	}

	function isTouchDue(id: number): boolean {
		const last = touched.get(id);
		return last === undefined || clock.now() - last >= TOUCH_EVERY_MS;
	}

	async function touch(id: number): Promise<void> {
		const now = clock.now();
		touched.set(id, now);
		// A figure for people: a call neither fails because it cannot be written, nor waits for another writer.
		await database.writeBehind((trx) => store.touch(trx, id, now)).catch(() => touched.delete(id));
	}

	return {
		mode: keyModeHere,
		async create(wanted) {
			check(wanted);
			const { accountId, role, formToken } = wanted;
			const key = generateKey(keyModeHere);
			try {
				await database.transact(async (trx) => {
					const accountRole = await store.roleOfAccount(trx, accountId);
					if (!accountRole || !hasRole(accountRole, role)) {
						throw new KeyRefused('role', `This account's keys cannot have the role ${role}.`);
					}
					if (formToken !== undefined && (await store.findByForm(trx, accountId, formToken)))
						throw madeAlready();
					if ((await store.countLive(trx, accountId, clock.now(), OWN_PREFIX)) >= MAX_LIVE_KEYS) {
						throw new KeyRefused(
							'too_many',
							`An account may have ${MAX_LIVE_KEYS} live keys; revoke one first.`
						);
					}
					await store.insert(trx, rowFor(key, wanted));
				});
			} catch (error) {
				// The same form at the same moment: the index let one of them pass.
				if (formToken !== undefined && database.isUniqueViolation(error)) throw madeAlready();
				throw error;
			}
			return key;
		},
		async ensureDerived({ accountId, name, role }) {
			const key = keyFromBytes(keyModeHere, secrets.derive(`api-key:${name}`, DERIVED_BYTES));
			const hash = sha256(key);
			await database.transact(async (trx) => {
				if (await store.findByHash(trx, hash)) await store.reinstate(trx, hash);
				else await store.insert(trx, rowFor(key, { accountId, name, role }));
				await store.revokeOthers(trx, { accountId, name, exceptHash: hash, now: clock.now() });
			});
			return key;
		},
		async authenticate(authorization) {
			const header = authorization?.trim() ?? '';
			const key = /^bearer /i.test(header) ? header.slice('bearer '.length).trim() : '';
			if (key === '') {
				throw new AppError('missing_api_key', 'Send the header "Authorization: Bearer <API_KEY>".');
			}
			const invalid = () =>
				new AppError('invalid_api_key', 'The API key is malformed, unknown, revoked or expired.');
			const hash = sha256(key);
			const found = remembered(hash) ?? (keyMode(key) === keyModeHere ? await find(hash) : null);
			if (!found || found.row.revoked_at !== null) throw invalid();
			if (found.row.expires_at !== null && found.row.expires_at <= clock.now()) throw invalid();
			if (isTouchDue(found.row.id)) await touch(found.row.id);
			return found.caller;
		},
		async revokeOwn(accountId, id) {
			const key = { accountId, id, now: clock.now(), except: OWN_PREFIX };
			const revoked = await store.revokeOwn(database.db, key);
			cache.clear();
			return revoked > 0;
		},
		async revoke(keyOrId) {
			const hash = keyMode(keyOrId) ? sha256(keyOrId) : null;
			const id = hash ? (await store.findByHash(database.db, hash))?.id : Number(keyOrId);
			if (id === undefined || !Number.isSafeInteger(id)) return false;
			cache.clear();
			return (await store.revoke(database.db, id, clock.now())) > 0;
		},
		list: (accountId) => store.list(database.db, accountId),
		scopesIn: ({ scopes }) => scopeList.parse(JSON.parse(scopes)),
		formToken: () => randomCharacters(FORM_TOKEN_ALPHABET, FORM_TOKEN_LENGTH),
		choices: (role) => ({ roles: ROLES.filter((one) => hasRole(role, one)), scopes: scopesOf(role) }),
		isOwn: ({ name }) => name.startsWith(OWN_PREFIX)
	};
}

const madeAlready = () =>
	new KeyRefused('made_already', 'This form was sent before, and the key was made then.');
