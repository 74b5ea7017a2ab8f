import { AppError } from '#lib/server/platform/errors.ts';
import { sha256 } from '#lib/server/platform/secrets.ts';
import { hasRole, type Caller } from '#lib/server/accounts/accounts.ts';
import { scopeList, type KeysContext, type KnownKey } from './context.ts';
import { keyMode } from './key-format.ts';
import * as store from './store.ts';

/** A key that another process revoked works at most this long. */
const CACHE_MS = 5_000;
const CACHE_SIZE = 10_000;
const TOUCH_EVERY_MS = 60_000;

/** @throws AppError `missing_api_key` or `invalid_api_key` */
export async function authenticate(context: KeysContext, authorization: string | null): Promise<Caller> {
	const header = authorization?.trim() ?? '';
	const key = /^bearer /i.test(header) ? header.slice('bearer '.length).trim() : '';
	if (key === '') {
		throw new AppError('missing_api_key', 'Send the header "Authorization: Bearer <API_KEY>".');
	}
	const found = await knownKey(context, key);
	const reason = refusalOf(found, context.clock.now());
	if (!found || reason !== null) {
		const detail = 'The API key is malformed, unknown, revoked or expired.';
		throw new AppError('invalid_api_key', detail, { cause: reason });
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

async function knownKey(
	{ database, cache, clock, mode }: KeysContext,
	key: string
): Promise<KnownKey | null> {
	const hash = sha256(key);
	const now = clock.now();
	const known = cache.get(hash);
	if (known && now - known.readAt < CACHE_MS) return known;
	if (keyMode(key) !== mode) return null;
	const row = await store.findByHash(database.db, hash);
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

/** Records the time of use, for display: a call must not fail or wait for it. */
async function touch({ database, clock }: KeysContext, key: store.KeyWithAccount): Promise<void> {
	const { id, last_used_at: last } = key;
	const now = clock.now();
	if (last !== null && now - last < TOUCH_EVERY_MS) return;
	key.last_used_at = now;
	await database.writeBehind((trx) => store.touch(trx, id, now)).catch(() => (key.last_used_at = last));
}
