import { sql } from 'kysely';
import type { Secrets } from '../../platform/secrets.ts';
import type { Database, Queries } from '../database.ts';
import type { Resealed, Row, SealedTable } from './sealed-table.ts';

/** Rows per transaction: short, because buyers wait for it. */
const BATCH = 100;

/**
 * Seals a table's values with the current secret instead of the fallback, while processes use them. A row that one of
 * them changes meanwhile stays as it is.
 */
export async function* resealTable(
	database: Database,
	secrets: Secrets,
	table: SealedTable
): AsyncGenerator<{ resealed: number; unreadable: number }> {
	let rows = await page(database.db, table, null);
	while (rows.length > 0) {
		const results = rows.map((row) => ({ row, ...table.reseal(secrets, row) }));
		const changed = results.filter(({ changes }) => Object.keys(changes).length > 0);
		if (changed.length > 0) {
			await database.transact(async (trx) => {
				for (const one of changed) await update(trx, table, one);
			});
		}
		yield {
			resealed: changed.length,
			unreadable: results.reduce((sum, { unreadable }) => sum + unreadable, 0)
		};
		rows = await page(database.db, table, rows.at(-1) ?? null);
	}
}

async function page(queries: Queries, { name, key }: SealedTable, after: Row | null): Promise<Row[]> {
	const columns = sql.join(key.map((column) => sql.ref(column)));
	const later = after ? sql`where (${columns}) > (${valuesOf(key, after)})` : sql``;
	const { rows } = await sql<Row>`
		select * from ${sql.table(name)} ${later} order by ${columns} limit ${BATCH}`.execute(queries);
	return rows;
}

async function update(
	queries: Queries,
	{ name, key, columns, unique }: SealedTable,
	{ row, changes }: { row: Row; changes: Resealed['changes'] }
): Promise<void> {
	const isTaken = unique !== undefined && (await has(queries, name, unique, changes[unique] ?? null));
	const set = Object.entries(changes).map(
		([column, value]) => sql`${sql.ref(column)} = ${isTaken ? null : value}`
	);
	const unchanged = [...key, ...columns.filter((column) => column in changes)].map(
		(column) => sql`${sql.ref(column)} = ${row[column]}`
	);
	await sql`update ${sql.table(name)} set ${sql.join(set)}
		where ${sql.join(unchanged, sql` and `)}`.execute(queries);
}

async function has(queries: Queries, table: string, column: string, value: string | null): Promise<boolean> {
	const { rows } = await sql`
		select 1 from ${sql.table(table)} where ${sql.ref(column)} = ${value} limit 1`.execute(queries);
	return rows.length > 0;
}

const valuesOf = (key: readonly string[], row: Row) => sql.join(key.map((column) => row[column]));
