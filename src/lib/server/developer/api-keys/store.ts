import type { Selectable } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import { countOf, exists, isChanged } from '#lib/server/db/first.ts';
import type { ApiKeysTable } from '#lib/server/db/schema.ts';

/** Starts the names of keys that Airtill creates for itself. */
export const OWN_PREFIX = 'airtill:';

export type ApiKey = Selectable<ApiKeysTable>;

export const insert = (queries: Queries, key: Omit<ApiKey, 'id'>) =>
	queries.insertInto('api_keys').values(key).returningAll().executeTakeFirstOrThrow();

export async function hashesOf(queries: Queries, name: string): Promise<string[]> {
	const rows = await queries.selectFrom('api_keys').select('hash').where('name', '=', name).execute();
	return rows.map(({ hash }) => hash);
}

/** Finds a key with what its account may do. Staff have no keys. */
export const findByHash = (queries: Queries, hash: string) =>
	queries
		.selectFrom('api_keys')
		.innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
		.selectAll('api_keys')
		.select(['accounts.role as account_role', 'accounts.status as account_status', 'accounts.plan as plan'])
		.where('api_keys.hash', '=', hash)
		.where('accounts.role', '<>', 'staff')
		.$narrowType<{ account_role: ApiKey['role'] }>()
		.executeTakeFirst();

export type KeyWithAccount = NonNullable<Awaited<ReturnType<typeof findByHash>>>;

/** Counts keys that are neither revoked nor expired, without Airtill's own. */
export const countActive = (queries: Queries, accountId: number, now: number): Promise<number> =>
	countOf(
		queries
			.selectFrom('api_keys')
			.where(({ and }) => and({ account_id: accountId, revoked_at: null }))
			.where('name', 'not like', `${OWN_PREFIX}%`)
			.where((builder) => builder.or([builder('expires_at', 'is', null), builder('expires_at', '>', now)]))
	);

export const hasForm = (queries: Queries, accountId: number, formToken: string): Promise<boolean> =>
	exists(
		queries
			.selectFrom('api_keys')
			.select('id')
			.where(({ and }) => and({ account_id: accountId, form_token: formToken }))
	);

/** Revokes a key that this account created. Returns false if there is none. */
export const revoke = (
	queries: Queries,
	key: { id: number; account_id: number },
	now: number
): Promise<boolean> =>
	isChanged(
		queries
			.updateTable('api_keys')
			.set({ revoked_at: now })
			.where(({ and }) => and({ ...key, revoked_at: null }))
			.where('name', 'not like', `${OWN_PREFIX}%`)
	);

export const revokeOthers = (
	queries: Queries,
	key: { accountId: number; name: string; exceptHashes: readonly string[]; now: number }
) =>
	queries
		.updateTable('api_keys')
		.set({ revoked_at: key.now })
		.where(({ and }) => and({ account_id: key.accountId, name: key.name, revoked_at: null }))
		.where('hash', 'not in', key.exceptHashes)
		.execute();

export const reinstate = (queries: Queries, hash: string) =>
	queries.updateTable('api_keys').set({ revoked_at: null }).where('hash', '=', hash).execute();

export async function touch(queries: Queries, id: number, now: number): Promise<void> {
	await queries.updateTable('api_keys').set({ last_used_at: now }).where('id', '=', id).execute();
}

export const list = (queries: Queries, accountId: number): Promise<ApiKey[]> =>
	queries.selectFrom('api_keys').selectAll().where('account_id', '=', accountId).orderBy('id').execute();
