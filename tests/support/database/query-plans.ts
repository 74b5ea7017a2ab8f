import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely, PostgresDialect, sql, type CompiledQuery } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, inject } from 'vitest';
import { openDatabase, type Database } from '#lib/server/db/database.ts';
import type { Schema } from '#lib/server/db/schema.ts';
import { NodeSqliteDialect } from '#lib/server/db/sqlite.ts';
import { createDatabaseOn } from './postgres.ts';

/** PostgreSQL plans a statement for its values; from the sixth use of its name on it may plan for any values. */
export const PLANNERS = ['sqlite', 'postgres', 'postgres after six uses'] as const;
const USES = 6;

const NUMBERS = 'with recursive n (i) as (select 1 union all select i + 1 from n where i < 6000)';

interface QueryPlans {
	database: Database;
	/** For queries whose plan is wanted. */
	db: Kysely<Schema>;
	/** The plan of the first query that is run, as JSON. */
	planOf(read: () => Promise<unknown>): Promise<string>;
}

/**
 * A database without foreign keys and with 6,000 rows of each kind, for the tests of one `describe`.
 * @param inserts `insert into TABLE … select …` with `i` as the number of the row
 */
export function useQueryPlans(kind: (typeof PLANNERS)[number], inserts: readonly string[]): () => QueryPlans {
	const folder = mkdtempSync(path.join(tmpdir(), 'airtill-plans-'));
	const ran: CompiledQuery[] = [];
	let plans: QueryPlans;

	beforeAll(async () => {
		const url =
			kind === 'sqlite' ? `file:${folder}/airtill.db` : await createDatabaseOn(inject('postgresUrl'));
		const database = await openDatabase(url, { poolSize: 1 });
		const db = noting(kind, url, ran);
		await sql
			.raw(kind === 'sqlite' ? 'pragma foreign_keys = off' : "set session_replication_role = 'replica'")
			.execute(db);
		for (const insert of inserts) await sql.raw(`${NUMBERS} ${insert} from n`).execute(db);
		// SQLite has no statistics in an installation either.
		if (kind !== 'sqlite') await sql`analyze`.execute(db);
		plans = {
			database,
			db,
			async planOf(read) {
				ran.length = 0;
				await read();
				const [query] = ran.splice(0);
				if (!query) throw new Error('No query ran');
				if (kind === 'postgres after six uses') return planOfNamed(db, query);
				const explain = kind === 'sqlite' ? 'explain query plan' : 'explain';
				const { rows } = await db.executeQuery({ ...query, sql: `${explain} ${query.sql}` });
				return JSON.stringify(rows);
			}
		};
	});
	afterAll(async () => {
		await plans.db.destroy();
		await plans.database.close();
		rmSync(folder, { recursive: true });
	});
	return () => plans;
}

async function planOfNamed(db: Kysely<Schema>, { sql: text, parameters }: CompiledQuery): Promise<string> {
	const values = parameters.map((value) => (value === null ? 'null' : pg.escapeLiteral(String(value))));
	const execute = `execute planned ${values.length > 0 ? `(${values.join(', ')})` : ''}`;
	await sql.raw(`prepare planned as ${text}`).execute(db);
	for (let used = 0; used < USES; used += 1) await sql.raw(execute).execute(db);
	const { rows } = await sql.raw(`explain ${execute}`).execute(db);
	await sql.raw('deallocate planned').execute(db);
	return JSON.stringify(rows);
}

/** The same database, whose queries are noted. */
export function noting(kind: string, url: string, ran: CompiledQuery[]): Kysely<Schema> {
	const types = new pg.TypeOverrides();
	types.setTypeParser(pg.types.builtins.INT8, Number);
	const dialect =
		kind === 'sqlite'
			? new NodeSqliteDialect(new DatabaseSync(url.slice('file:'.length)), { waitMs: 1_000 })
			: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 1, types }) });
	return new Kysely<Schema>({ dialect, log: (event) => void ran.push(event.query) });
}
