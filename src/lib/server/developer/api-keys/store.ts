import type { Selectable } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import { countOf, exists } from '#lib/server/db/first.ts';
import type { AccountsTable, ApiKeysTable } from '#lib/server/db/schema.ts';

export type ApiKey = Selectable<ApiKeysTable>;
type AccountRow = Selectable<AccountsTable>;

export type KeyWithAccount = ApiKey & {
	account_role: AccountRow['role'];
	account_status: AccountRow['status'];
	plan: AccountRow['plan'];
};

export const insert = (queries: Queries, key: Omit<ApiKey, 'id'>) =>
	queries.insertInto('api_keys').values(key).returningAll().executeTakeFirstOrThrow();

export async function hashesOf(queries: Queries, name: string): Promise<string[]> {
	const rows = await queries.selectFrom('api_keys').select('hash').where('name', '=', name).execute();
	return rows.map(({ hash }) => hash);
}

export async function findByHash(queries: Queries, hash: string): Promise<KeyWithAccount | null> {
	const row = await queries
		.selectFrom('api_keys')
		.innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
		.selectAll('api_keys')
		.select(['accounts.role as account_role', 'accounts.status as account_status', 'accounts.plan as plan'])
		.where('api_keys.hash', '=', hash)
		.executeTakeFirst();
	return row ?? null;
}

/** Counts keys that are neither revoked nor expired, except those whose name starts with `except`. */
export const countActive = (
	queries: Queries,
	accountId: number,
	now: number,
	except: string
): Promise<number> =>
	countOf(
		queries
			.selectFrom('api_keys')
			.where('account_id', '=', accountId)
			.where('revoked_at', 'is', null)
			.where('name', 'not like', `${except}%`)
			.where((builder) => builder.or([builder('expires_at', 'is', null), builder('expires_at', '>', now)]))
	);

export async function roleOfAccount(queries: Queries, id: number): Promise<AccountRow['role'] | null> {
	const row = await queries.selectFrom('accounts').select('role').where('id', '=', id).executeTakeFirst();
	return row?.role ?? null;
}

export const hasForm = (queries: Queries, accountId: number, formToken: string): Promise<boolean> =>
	exists(
		queries
			.selectFrom('api_keys')
			.select('id')
			.where('account_id', '=', accountId)
			.where('form_token', '=', formToken)
	);

/** Revokes a key. With `ofAccount`, only one of that account without that prefix. Returns the number of keys. */
export async function revoke(
	queries: Queries,
	key: { id: number; now: number; ofAccount?: { id: number; except: string } }
): Promise<number> {
	let query = queries
		.updateTable('api_keys')
		.set({ revoked_at: key.now })
		.where('id', '=', key.id)
		.where('revoked_at', 'is', null);
	if (key.ofAccount) {
		query = query
			.where('account_id', '=', key.ofAccount.id)
			.where('name', 'not like', `${key.ofAccount.except}%`);
	}
	return Number((await query.executeTakeFirst()).numUpdatedRows);
}

export async function revokeOthers(
	queries: Queries,
	key: { accountId: number; name: string; exceptHash: string; now: number }
): Promise<void> {
	await queries
		.updateTable('api_keys')
		.set({ revoked_at: key.now })
		.where('account_id', '=', key.accountId)
		.where('name', '=', key.name)
		.where('hash', '!=', key.exceptHash)
		.where('revoked_at', 'is', null)
		.execute();
}

export async function reinstate(queries: Queries, hash: string): Promise<void> {
	await queries.updateTable('api_keys').set({ revoked_at: null }).where('hash', '=', hash).execute();
}

export async function touch(queries: Queries, id: number, now: number): Promise<void> {
	await queries.updateTable('api_keys').set({ last_used_at: now }).where('id', '=', id).execute();
}

export async function list(queries: Queries, accountId: number): Promise<ApiKey[]> {
	return queries
		.selectFrom('api_keys')
		.selectAll()
		.where('account_id', '=', accountId)
		.orderBy('id')
		.execute();
}
