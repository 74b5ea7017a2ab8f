import { sql, type SelectQueryBuilder, type SqlBool } from 'kysely';
import type { Schema } from './schema.ts';

/** A page of rows by time of creation, then id, newest first. */
export interface NewestFirst<Id extends number | string = number> {
	/** Epoch ms, inclusive. */
	createdAfter?: number | undefined;
	/** Epoch ms, exclusive. */
	createdBefore?: number | undefined;
	/** Creation and id of the previous page's last row. */
	after: readonly [number, Id] | null;
	limit: number;
}

type Table = 'events' | 'payments' | 'sessions' | 'webhook_endpoints';

/** Reads a page of the selected rows: one range of an index on (account, created_at, id). */
export async function newestFirst<Row extends { created_at: number; id: number | string }>(
	query: SelectQueryBuilder<Schema, Table, Row>,
	{ createdAfter = 0, createdBefore = Number.MAX_SAFE_INTEGER, after, limit }: NewestFirst<number | string>
) {
	const [createdAt, id] = after ?? [createdBefore, 0];
	const rows = await query
		.where(sql<SqlBool>`created_at >= ${createdAfter} and (created_at, id) < (${createdAt}, ${id})`)
		.orderBy('created_at', 'desc')
		.orderBy('id', 'desc')
		.limit(limit + 1)
		.execute();
	return pageOf(rows as Row[], limit, (last): [number, Row['id']] => [last.created_at, last.id]);
}

/**
 * @param rows one more than `limit` if there is a next page
 * @param positionOf returns the position of a row, from which the next page continues
 */
export function pageOf<Row, Position>(
	rows: readonly Row[],
	limit: number,
	positionOf: (last: Row) => Position
) {
	const page = rows.slice(0, limit);
	const last = page.at(-1);
	return { rows: page, next: rows.length > limit && last !== undefined ? positionOf(last) : null };
}
