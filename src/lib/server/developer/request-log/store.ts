import { sql, type Selectable } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import { withoutNulls } from '#lib/server/db/first.ts';
import type { KeyUsageTable, RequestLogTable } from '#lib/server/db/schema.ts';

type LogRow = Selectable<RequestLogTable>;
export type NewLogRow = Omit<LogRow, 'id'>;
export type MinuteCalls = Selectable<KeyUsageTable>;

export const insert = (queries: Queries, rows: readonly NewLogRow[]) =>
	queries.insertInto('request_log').values(rows).execute();

/** Adds in the order of the key ids, so that two processes cannot deadlock. */
export const addUsage = (queries: Queries, counts: readonly MinuteCalls[]) =>
	queries
		.insertInto('key_usage')
		.values(counts.toSorted((a, b) => a.key_id - b.key_id || a.minute - b.minute))
		.onConflict((conflict) =>
			conflict
				.columns(['key_id', 'minute'])
				.doUpdateSet(({ ref, eb }) => ({ calls: eb(ref('key_usage.calls'), '+', ref('excluded.calls')) }))
		)
		.execute();

export async function trim(queries: Queries, accountId: number, keep: number): Promise<void> {
	const oldestKept = queries
		.selectFrom('request_log')
		.select('id')
		.where('account_id', '=', accountId)
		.orderBy('id', 'desc')
		.offset(keep - 1)
		.limit(1);
	await queries
		.deleteFrom('request_log')
		.where('account_id', '=', accountId)
		.where('id', '<', oldestKept)
		.execute();
}

export const deleteUsage = (queries: Queries, beforeMinute: number) =>
	queries.deleteFrom('key_usage').where('minute', '<', beforeMinute).execute();

export interface RecentSearch {
	/** Id of the last entry of the previous page. */
	before: number | null;
	limit: number;
	statusClass?: 2 | 4 | 5 | null;
	keyId?: number | null;
}

/** Searches the account's newest `keep` calls, newest first. Redacted segments of a path are `…`. */
export async function recent(
	queries: Queries,
	accountId: number,
	keep: number,
	{ before, limit, statusClass, keyId }: RecentSearch
) {
	const kept = queries
		.selectFrom('request_log')
		.select(['id', 'at', 'method', 'path', 'status', 'error_code as problem'])
		.select(['duration_ms as durationMs', 'request_id as requestId', 'key_id as keyId'])
		.where('account_id', '=', accountId)
		.orderBy('id', 'desc')
		.limit(keep);
	return queries
		.selectFrom(kept.as('kept'))
		.selectAll()
		.where('id', '<', before ?? Number.MAX_SAFE_INTEGER)
		.$if(statusClass != null, (query) => query.where(sql`status / 100`, '=', statusClass ?? null))
		.where(({ and }) => and(withoutNulls({ keyId })))
		.orderBy('id', 'desc')
		.limit(limit)
		.execute();
}

/** Counts calls by key; unused keys are missing. */
export const usageSince = (queries: Queries, accountId: number, minute: number) =>
	queries
		.selectFrom('key_usage')
		.innerJoin('api_keys', 'api_keys.id', 'key_usage.key_id')
		.select(({ fn }) => ['key_usage.key_id', fn.sum<number>('key_usage.calls').as('calls')])
		.where('api_keys.account_id', '=', accountId)
		.where('key_usage.minute', '>=', minute)
		.groupBy('key_usage.key_id')
		.execute();
