import { sql, type RawBuilder, type SqlBool } from 'kysely';

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

/** Selects the rows of a page and later ones: one range of an index on (account, created_at, id). */
export function fromPage({
	createdAfter = 0,
	createdBefore = Number.MAX_SAFE_INTEGER,
	after
}: Omit<NewestFirst<number | string>, 'limit'>): RawBuilder<SqlBool> {
	const [createdAt, id] = after ?? [createdBefore, 0];
	return sql<SqlBool>`created_at >= ${createdAfter} and (created_at, id) < (${createdAt}, ${id})`;
}

/** @param rows one more than `limit` if there is a next page */
export function pageOf<Row extends { created_at: number; id: number | string }>(
	rows: readonly Row[],
	limit: number
) {
	const page = rows.slice(0, limit);
	const last = page.at(-1);
	const next: [number, Row['id']] | null = rows.length > limit && last ? [last.created_at, last.id] : null;
	return { rows: page, next };
}
