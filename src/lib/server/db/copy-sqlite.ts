import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { type Database, type Queries, type Tx, connectDatabase } from './database.ts';
import { exists } from './queries.ts';
import { migrate } from './migrate.ts';
import { lockSqliteFile, readSchemaVersion } from './backup.ts';
import { refuse } from '#lib/server/platform/errors.ts';

const ROWS_AT_ONCE = 500;
/** PostgreSQL fills these itself. Commands that ran before the copy may have asked for a token. */
const OWN = ['schema_migrations', 'rate_counts', 'operator_tokens'];

/**
 * Copies the SQLite database `file`, which nothing uses, into the empty PostgreSQL database of `url`, all or nothing. Ids
 * stay, and new ones go on after the last that SQLite gave.
 * @returns the number of rows
 * @throws Refused; then nothing has changed
 */
export async function copySqlite(file: string, url: string): Promise<number> {
	if (url.startsWith('file:')) throw refuse('DATABASE_URL names no PostgreSQL database to fill.');
	if (!existsSync(file)) throw refuse(`There is no file ${file}.`);
	const { database: source, isEmpty } = lockSqliteFile(file);
	try {
		if (isEmpty) throw refuse(`${file} has no data.`);
		const version = readSchemaVersion(source);
		const target = await connectDatabase(url, { poolSize: 1 });
		try {
			await refuseData(target);
			await migrate(target);
			return await target.transact((trx) => copyInto(trx, source, version));
		} finally {
			await target.close();
		}
	} finally {
		source.close();
	}
}

const hasData = (queries: Queries) => exists(queries.selectFrom('accounts').select('id'));
const HAS_DATA = 'The PostgreSQL database of DATABASE_URL has data: name an empty one.';

/** Before the migrations, which must not change an older installation that runs there. */
async function refuseData({ db }: Database): Promise<void> {
	const { rows } = await sql`select 1 where to_regclass('accounts') is not null`.execute(db);
	if (rows.length > 0 && (await hasData(db))) throw refuse(HAS_DATA);
}

async function copyInto(trx: Tx, source: DatabaseSync, version: number): Promise<number> {
	const newest = await trx
		.selectFrom('schema_migrations' as never)
		.select(sql<number>`max(version)`.as('version'))
		.executeTakeFirst();
	if (newest?.version !== version) {
		throw refuse('The file has an older schema: start this version on it once, and stop it.');
	}
	if (await hasData(trx)) throw refuse(HAS_DATA);
	// Migrations schedule jobs; those of the file replace them.
	await trx.deleteFrom('jobs').execute();
	let rows = 0;
	for (const table of await tablesByReference(trx)) rows += await copyTable(trx, source, table);
	for (const { name, seq } of source.prepare('select name, seq from sqlite_sequence').all()) {
		// In a city they go on after its own.
		await sql`select setval(ids, greatest(${Number(seq)}::bigint, coalesce(pg_sequence_last_value(ids), 1)))
			from (select pg_get_serial_sequence(${String(name)}, 'id')::regclass as ids) as sequence`.execute(trx);
	}
	return rows;
}

/** Lists the tables, each after those that it refers to. */
async function tablesByReference(trx: Tx): Promise<string[]> {
	const tables = await sql<{ name: string }>`select tablename as name from pg_tables
		where schemaname = current_schema() order by tablename`.execute(trx);
	const references = await sql<{ child: string; parent: string }>`
		select child.relname as child, parent.relname as parent from pg_constraint
		join pg_class child on child.oid = conrelid join pg_class parent on parent.oid = confrelid
		where contype = 'f' and conrelid <> confrelid and connamespace = current_schema()::regnamespace`.execute(trx);
	const ordered: string[] = [];
	let left = tables.rows.map(({ name }) => name).filter((name) => !OWN.includes(name));
	while (left.length > 0) {
		const waits = (name: string) =>
			references.rows.some(({ child, parent }) => child === name && left.includes(parent));
		const next = left.filter((name) => !waits(name));
		if (next.length === 0) throw new Error(`Tables refer to each other: ${left.join(', ')}`);
		ordered.push(...next);
		left = left.filter(waits);
	}
	return ordered;
}

/** Copies in the order of the ids: rows refer only to earlier rows of their own table. */
async function copyTable(trx: Tx, source: DatabaseSync, table: string): Promise<number> {
	let count = 0;
	let batch: Record<string, unknown>[] = [];
	const write = async () => {
		if (batch.length > 0)
			await trx
				.insertInto(table as never)
				.values(batch as never)
				.execute();
		count += batch.length;
		batch = [];
	};
	const names = source.prepare(`select name from pragma_table_info('${table}')`).all();
	const order = names.some(({ name }) => name === 'id') ? 'order by id' : '';
	for (const row of source.prepare(`select * from ${table} ${order}`).iterate()) {
		batch.push({ ...row });
		if (batch.length === ROWS_AT_ONCE) await write();
	}
	await write();
	return count;
}
