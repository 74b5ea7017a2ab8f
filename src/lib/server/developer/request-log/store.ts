import { sql, type Selectable } from 'kysely';
import type { Database, Queries } from '#lib/server/db/database.ts';
import { withoutNulls } from '#lib/server/db/first.ts';
import type { RequestLogTable } from '#lib/server/db/schema.ts';

type LogRow = Selectable<RequestLogTable>;
export type NewLogRow = Omit<LogRow, 'id'>;

/** `minute`: minutes since the epoch. */
export interface MinuteCalls {
	keyId: number;
	minute: number;
	calls: number;
}

/** Selects rows, in order, from one JSON parameter, so that one prepared statement fits any number. */
function selectRows(
	kind: Database['kind'],
	rows: readonly unknown[][],
	types: readonly ('bigint' | 'text')[]
) {
	const data = JSON.stringify(rows);
	const cells = types.map((type, index) =>
		kind === 'sqlite'
			? sql`value ->> ${sql.lit(index)}`
			: sql`(value ->> ${sql.lit(index)})::${sql.raw(type)}`
	);
	return kind === 'sqlite'
		? sql`select ${sql.join(cells)} from json_each(${data}) where true order by key`
		: sql`select ${sql.join(cells)} from json_array_elements(${data}::json)
				with ordinality as given (value, position) order by position`;
}

export async function insert(
	queries: Queries,
	kind: Database['kind'],
	rows: readonly NewLogRow[]
): Promise<void> {
	const cells = rows.map((row) => [
		...[row.account_id, row.key_id, row.at, row.method],
		...[row.path, row.status, row.error_code, row.duration_ms, row.request_id]
	]);
	const types = [
		...(['bigint', 'bigint', 'bigint', 'text'] as const),
		...(['text', 'bigint', 'text', 'bigint', 'text'] as const)
	];
	await sql`insert into request_log
		(account_id, key_id, at, method, path, status, error_code, duration_ms, request_id)
		${selectRows(kind, cells, types)}`.execute(queries);
}

/** Adds in the order of the key ids, so that two processes cannot deadlock. */
export async function addUsage(
	queries: Queries,
	kind: Database['kind'],
	counts: readonly MinuteCalls[]
): Promise<void> {
	const rows = counts
		.toSorted((a, b) => a.keyId - b.keyId || a.minute - b.minute)
		.map(({ keyId, minute, calls }) => [keyId, minute, calls]);
	await sql`insert into key_usage (key_id, minute, calls)
		${selectRows(kind, rows, ['bigint', 'bigint', 'bigint'])}
		on conflict (key_id, minute) do update set calls = key_usage.calls + excluded.calls`.execute(queries);
}

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

export async function usageSince(
	queries: Queries,
	accountId: number,
	minutes: { now: number; dayStart: number }
): Promise<{ key_id: number; day: number; current: number; previous: number }[]> {
	const callsIn = (minute: number) =>
		sql<number>`coalesce(sum(case when key_usage.minute = ${minute} then key_usage.calls else 0 end), 0)`;
	return queries
		.selectFrom('key_usage')
		.innerJoin('api_keys', 'api_keys.id', 'key_usage.key_id')
		.select((builder) => [
			'key_usage.key_id',
			builder.fn.sum<number>('key_usage.calls').as('day'),
			callsIn(minutes.now).as('current'),
			callsIn(minutes.now - 1).as('previous')
		])
		.where('api_keys.account_id', '=', accountId)
		.where('key_usage.minute', '>=', minutes.dayStart)
		.groupBy('key_usage.key_id')
		.execute();
}
