import { createHash } from 'node:crypto';
import { type Selectable, SqliteAdapter, sql } from 'kysely';
import type { Tx } from './database.ts';
import type { TableWithId } from './queries.ts';
import type { Schema } from './schema.ts';

/**
 * Locks, for transactions that are read committed (src/docs/decisions/locks.md). On SQLite, where one transaction writes at
 * a time, they do nothing.
 *
 * Order, which prevents deadlocks: passes by id, sessions by id, payments, then names, then the rest.
 */

declare const held: unique symbol;

/**
 * What a transaction holds until its end: no other changes it, so a decision from it stays true. Functions that need a lock
 * take this type.
 */
export type Held<T> = T & { readonly [held]: true };

export const holdsEverything = (trx: Tx): boolean => trx.getExecutor().adapter instanceof SqliteAdapter;

/**
 * Holds the rows of a query (`Held`): waits while another transaction holds one, then reads what that one has stored. Rows
 * may still be referred to.
 */
export const hold = <Query extends { forNoKeyUpdate(): Query }>(trx: Tx, query: Query): Query =>
	holdsEverything(trx) ? query : query.forNoKeyUpdate();

/** Holds only the rows of one table of a query, after it has read, and held, what that is joined with. */
export const holdLast = <Table extends string, Query extends { forNoKeyUpdate(of: Table): Query }>(
	trx: Tx,
	query: Query,
	table: Table
): Query => (holdsEverything(trx) ? query : query.forNoKeyUpdate(table));

/** Holds rows also against transactions that keep them (`keep`), or insert something that refers to them. */
export const holdAlone = <Query extends { forUpdate(): Query }>(trx: Tx, query: Query): Query =>
	holdsEverything(trx) ? query : query.forUpdate();

/** Waits for who holds a row alone, and keeps others from doing so until the end. Who keeps one does not wait for another. */
export const keep = <Query extends { forKeyShare(): Query }>(trx: Tx, query: Query): Query =>
	holdsEverything(trx) ? query : query.forKeyShare();

/** Finds a row by its id and holds it. */
export async function lockById<Table extends TableWithId>(trx: Tx, table: Table, id: number) {
	if (!Number.isSafeInteger(id)) return undefined;
	// The types of one table stand for those of all.
	const query = trx
		.selectFrom(table as 'payments')
		.selectAll()
		.where('id', '=', id);
	return (await hold(trx, query).executeTakeFirst()) as Held<Selectable<Schema[Table]>> | undefined;
}

/**
 * Advisory locks are of the database. Combined with this SQL, a key is of its schema; in `public` it is what it was in
 * earlier releases, whose processes may run beside ours.
 */
export const OF_SCHEMA = `# case current_schema() when 'public' then 0 else hashtextextended(current_schema()::text, 0) end`;

/**
 * Waits until no other transaction has one of these names, and keeps them until the end: for counts, which have no row to
 * lock. Several are taken in one order.
 */
export async function lockName(trx: Tx, ...names: readonly string[]): Promise<void> {
	if (holdsEverything(trx)) return;
	const keys = names.map((name) => String(createHash('sha256').update(name).digest().readBigInt64BE()));
	await sql`select pg_advisory_xact_lock(key ${sql.raw(OF_SCHEMA)}) from unnest(${keys.sort()}::bigint[]) as key`.execute(
		trx
	);
}

/** Ends an attempt of a transaction that locked by what has changed since. The next attempt reads it again. */
export class Outdated extends Error {}
