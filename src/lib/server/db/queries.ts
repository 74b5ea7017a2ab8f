import {
	type Insertable,
	type Selectable,
	type SelectQueryBuilder,
	type SqlBool,
	type UpdateResult,
	sql
} from 'kysely';
import type { Database, Queries, Reads } from './database.ts';
import type { Row, Schema } from './schema.ts';

interface Query<T> {
	limit(rows: number): { executeTakeFirst(): Promise<T | undefined> };
}

export const first = async <T>(query: Query<T>): Promise<T | null> =>
	(await query.limit(1).executeTakeFirst()) ?? null;

export const exists = async (query: Query<unknown>): Promise<boolean> => (await first(query)) !== null;

export type TableWithId = {
	[Table in keyof Schema]: Selectable<Schema[Table]> extends { id: number } ? Table : never;
}[keyof Schema];

/** Finds a row by its id, which may be any number. */
export async function findById<Table extends TableWithId>(queries: Reads, table: Table, id: number) {
	if (!Number.isSafeInteger(id)) return undefined;
	// The types of one table stand for those of all.
	const query = queries
		.selectFrom(table as 'payments')
		.selectAll()
		.where('id', '=', id);
	return (await query.executeTakeFirst()) as Selectable<Schema[Table]> | undefined;
}

/** Inserts a row and returns it. */
export const insertRow = <Table extends keyof Schema>(
	queries: Queries,
	table: Table,
	values: Insertable<Schema[Table]>
) =>
	queries
		.insertInto(table as 'payments')
		.values(values as Insertable<Schema['payments']>)
		.returningAll()
		.executeTakeFirstOrThrow() as Promise<unknown> as Promise<Row<Table>>;

/** Drops fields that are null or undefined: a filter without them matches any value. */
export const withoutNulls = <Fields extends object>(fields: Fields) =>
	Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null)) as {
		[Name in keyof Fields]?: NonNullable<Fields[Name]>;
	};

/**
 * Repeats work that a unique index refused: another was faster, and the next try finds what it wrote.
 * @param work gets the number of the try, from 0
 */
export async function retryUniqueViolation<T>(
	{ isUniqueViolation }: Pick<Database, 'isUniqueViolation'>,
	mostTries: number,
	work: (attempt: number) => Promise<T>
): Promise<T> {
	for (let attempt = 0; ; attempt += 1) {
		try {
			return await work(attempt);
		} catch (error) {
			if (!isUniqueViolation(error) || attempt + 1 >= mostTries) throw error;
		}
	}
}

export const isChanged = async (update: { executeTakeFirst(): Promise<UpdateResult> }): Promise<boolean> =>
	(await update.executeTakeFirst()).numUpdatedRows > 0n;

export async function countRows<Tables extends keyof Schema>(
	query: SelectQueryBuilder<Schema, Tables, object>
): Promise<number> {
	const row = await query.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
	return row.count;
}

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
export async function findNewestFirst<Row extends { created_at: number; id: number | string }>(
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
	return cutPage(rows as Row[], limit, (last): [number, Row['id']] => [last.created_at, last.id]);
}

/**
 * @param rows one more than `limit` if there is a next page
 * @param positionOf returns the position of a row, from which the next page continues
 */
export function cutPage<Row, Position>(
	rows: readonly Row[],
	limit: number,
	positionOf: (last: Row) => Position
) {
	const page = rows.slice(0, limit);
	const last = page.at(-1);
	return { rows: page, next: rows.length > limit && last !== undefined ? positionOf(last) : null };
}
