import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { Kysely, SqliteDialect, sql, type SqliteDatabase } from 'kysely';
import type { Database } from './database.ts';
import type { Schema } from './schema.ts';

/** How long a statement waits for another process (the command line, say) to finish writing. */
const BUSY_TIMEOUT_MS = 10_000;

/** Result codes SQLITE_CONSTRAINT_UNIQUE and SQLITE_CONSTRAINT_PRIMARYKEY, https://sqlite.org/rescode.html */
const NOT_UNIQUE: readonly unknown[] = [2067, 1555];

/**
 * Opens the embedded database: write-ahead log, every commit on the disk before it is reported
 * (`synchronous=FULL`), foreign keys checked.
 * @param path file to open; its folder is made
 */
export function openSqlite(path: string): Database {
	mkdirSync(dirname(path), { recursive: true });
	const connection = new DatabaseSync(path, {
		enableForeignKeyConstraints: true,
		timeout: BUSY_TIMEOUT_MS
	});
	connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY;');
	const db = new Kysely<Schema>({ dialect: new SqliteDialect({ database: shim(connection) }) });
	return {
		kind: 'sqlite',
		db,
		transact: (work) => db.transaction().execute(work),
		writeBehind: (work) =>
			db.connection().execute(async (one) => {
				// Waiting would hold this whole process, because the driver is synchronous.
				connection.exec('PRAGMA busy_timeout = 0; PRAGMA synchronous = NORMAL;');
				try {
					await one.transaction().execute(work);
				} finally {
					connection.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA synchronous = FULL;`);
				}
			}),
		lockClaimed: sql``,
		insideBox: (box) => sql<boolean>`routers.id in (
			select id from router_positions
			where min_lat <= ${box.maxLat} and max_lat >= ${box.minLat}
			and min_lon <= ${box.maxLon} and max_lon >= ${box.minLon})`,
		isUniqueViolation: (error) =>
			error instanceof Error && 'errcode' in error && NOT_UNIQUE.includes(error.errcode),
		shared: false,
		async ping() {
			await sql`select 1`.execute(db);
		},
		close: () => db.destroy()
	};
}

/**
 * node:sqlite in the shape that Kysely's dialect expects. Statements are prepared once. `begin` becomes
 * `begin immediate`: a transaction that starts by reading and then writes would otherwise fail at once, without
 * waiting, when another process wrote in between.
 */
function shim(connection: DatabaseSync): SqliteDatabase {
	const prepared = new Map<string, ReturnType<typeof prepare>>();
	const prepare = (text: string) => {
		const statement = connection.prepare(text === 'begin' ? 'begin immediate' : text);
		return {
			reader: statement.columns().length > 0,
			all: (parameters: readonly unknown[]) => statement.all(...(parameters as SQLInputValue[])),
			run: (parameters: readonly unknown[]) => statement.run(...(parameters as SQLInputValue[])),
			iterate: (parameters: readonly unknown[]) => statement.iterate(...(parameters as SQLInputValue[]))
		};
	};
	return {
		prepare(text) {
			let statement = prepared.get(text);
			if (!statement) {
				statement = prepare(text);
				if (prepared.size >= MAX_PREPARED) prepared.clear();
				prepared.set(text, statement);
			}
			return statement;
		},
		close: () => connection.close()
	};
}

const MAX_PREPARED = 500;
