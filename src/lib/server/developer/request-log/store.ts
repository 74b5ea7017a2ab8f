import { sql, type Selectable } from 'kysely';
import type { Database, Queries } from '#lib/server/db/database.ts';
import { withoutNulls } from '#lib/server/db/first.ts';
import type { KeyUsageTable, RequestLogTable } from '#lib/server/db/schema.ts';

type LogRow = Selectable<RequestLogTable>;
export type NewLogRow = Omit<LogRow, 'id'>;
export type MinuteCalls = Selectable<KeyUsageTable>;

type Columns<Row> = Record<keyof Row & string, 'bigint' | 'text'>;

const LOG_COLUMNS: Columns<NewLogRow> = {
	account_id: 'bigint',
	key_id: 'bigint',
	at: 'bigint',
	method: 'text',
	path: 'text',
	status: 'bigint',
	error_code: 'text',
	duration_ms: 'bigint',
	request_id: 'text'
};
const USAGE_COLUMNS: Columns<MinuteCalls> = { key_id: 'bigint', minute: 'bigint', calls: 'bigint' };

/** Names columns and selects rows, in order, from one JSON parameter, so that one prepared statement fits any number. */
function namesAndRows<Row extends object>(
	kind: Database['kind'],
	columns: Columns<Row>,
	rows: readonly Row[]
) {
	const names = Object.keys(columns) as (keyof Row & string)[];
	const data = JSON.stringify(rows.map((row) => names.map((name) => row[name])));
	const cells = names.map((name, index) =>
		kind === 'sqlite'
			? sql`value ->> ${sql.lit(index)}`
			: sql`(value ->> ${sql.lit(index)})::${sql.raw(columns[name])}`
	);
	const from =
		kind === 'sqlite'
			? sql`json_each(${data}) where true order by key`
			: sql`json_array_elements(${data}::json) with ordinality as given (value, position) order by position`;
	return sql`(${sql.join(names.map((name) => sql.ref(name)))}) select ${sql.join(cells)} from ${from}`;
}

export const insert = (queries: Queries, kind: Database['kind'], rows: readonly NewLogRow[]) =>
	sql`insert into request_log ${namesAndRows(kind, LOG_COLUMNS, rows)}`.execute(queries);

/** Adds in the order of the key ids, so that two processes cannot deadlock. */
export function addUsage(queries: Queries, kind: Database['kind'], counts: readonly MinuteCalls[]) {
	const rows = counts.toSorted((a, b) => a.key_id - b.key_id || a.minute - b.minute);
	return sql`insert into key_usage ${namesAndRows(kind, USAGE_COLUMNS, rows)}
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
