import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { SCOPES, type Role, type Scope } from '../contract/routes.ts';
import type { Database } from '../db/database.ts';
import { AppError } from '../errors.ts';
import { sha256, type Secrets } from '../secrets.ts';
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
	/** Makes a key; the returned text is shown this once and never again. @throws Error beyond 20 live keys */
	create(key: { accountId: number; name: string; role: Role; scopes?: Scope[] }): Promise<string>;
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
	/** Revokes a key by its text or its id. @returns false when there is no such live key */
	revoke(keyOrId: string): Promise<boolean>;
	list(accountId: number): Promise<store.ApiKey[]>;
}

export const MAX_LIVE_KEYS = 20;
/** Begins the names of keys that Airtill makes for itself. */
export const OWN_PREFIX = 'airtill:';

/** A revoked key works at most this long (in other processes; here it stops at once). */
const CACHE_MS = 5_000;
const CACHE_SIZE = 10_000;
const TOUCH_EVERY_MS = 60_000;
const DERIVED_BYTES = 64;

const ROLE_RANK: Record<Role, number> = { app: 0, owner: 1, admin: 2 };
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
		owner: { accountId: number; name: string; role: Role },
		scopes: Scope[] = []
	) => ({
		account_id: owner.accountId,
		name: owner.name,
		hash: sha256(key),
		hint: keyHint(key),
		role: owner.role,
		scopes: JSON.stringify(scopes),
		created_at: clock.now(),
		expires_at: null,
		last_used_at: null,
		revoked_at: null
	});

	async function find(hash: string): Promise<KnownKey | null> {
		const now = clock.now();
		const cached = cache.get(hash);
		// `<` on both sides: a clock that was set back must not keep an entry alive.
		if (cached && now >= cached.readAt && now - cached.readAt < CACHE_MS) return cached.found;
		const row = await store.findByHash(database.db, hash);
		cache.delete(hash);
		if (!row) return null;
		const found = { row, caller: callerOf(row) };
		if (cache.size >= CACHE_SIZE) cache.clear();
		cache.set(hash, { found, readAt: now });
		return found;
	}

	async function touch(id: number): Promise<void> {
		const now = clock.now();
		const last = touched.get(id);
		if (last !== undefined && now - last < TOUCH_EVERY_MS) return;
		touched.set(id, now);
		// A figure for people; a call must not fail because it could not be written.
		await store.touch(database.db, id, now).catch(() => {});
	}

	return {
		async create({ accountId, name, role, scopes }) {
			if (name.startsWith(OWN_PREFIX))
				throw new Error(`Names that begin with ${OWN_PREFIX} are Airtill's own.`);
			const key = generateKey(keyModeHere);
			await database.transact(async (trx) => {
				if ((await store.countLive(trx, accountId, clock.now())) >= MAX_LIVE_KEYS) {
					throw new Error(`An account may have ${MAX_LIVE_KEYS} live keys; revoke one first.`);
				}
				await store.insert(trx, rowFor(key, { accountId, name, role }, scopes));
			});
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
			if (keyMode(key) !== keyModeHere) throw invalid();
			const found = await find(sha256(key));
			if (!found || found.row.revoked_at !== null) throw invalid();
			if (found.row.expires_at !== null && found.row.expires_at <= clock.now()) throw invalid();
			await touch(found.row.id);
			return found.caller;
		},
		async revoke(keyOrId) {
			const hash = keyMode(keyOrId) ? sha256(keyOrId) : null;
			const id = hash ? (await store.findByHash(database.db, hash))?.id : Number(keyOrId);
			if (id === undefined || !Number.isSafeInteger(id)) return false;
			cache.clear();
			return (await store.revoke(database.db, id, clock.now())) > 0;
		},
		list: (accountId) => store.list(database.db, accountId)
	};
}
