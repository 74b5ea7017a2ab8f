import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { Kysely, SqliteDialect, sql, type SqliteDatabase } from 'kysely';
import { boxesAround, distanceMetres, type Position } from '../../geo.ts';
import type { Database, NearRouter, NearSearch } from './database.ts';
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
		nearestRouters: (search) => nearestRouters(db, search),
		idsIn: (ids) => sql<number>`(select value from json_each(${JSON.stringify(ids)}))`,
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
 * The R*Tree finds what lies in the boxes, and the distances are worked out here: SQLite, which has no compiled
 * expressions, takes more than twice as long for the same.
 */
async function nearestRouters(
	db: Kysely<Schema>,
	{ centre, radiusMetres, after, limit }: NearSearch
): Promise<NearRouter[]> {
	const found: NearRouter[] = [];
	for (const box of boxesAround(centre, radiusMetres)) {
		const { rows } = await sql<Position & { id: number }>`
			select routers.id, routers.lat, routers.lon
			from router_positions as place cross join routers on routers.id = place.id
			where place.min_lat <= ${box.maxLat} and place.max_lat >= ${box.minLat}
				and place.min_lon <= ${box.maxLon} and place.max_lon >= ${box.minLon}
				and routers.disabled_at is null`.execute(db);
		for (const row of rows) {
			const near = { id: row.id, distance: distanceMetres(centre, row) };
			if (near.distance <= radiusMetres && (!after || byDistance(near, after) > 0)) found.push(near);
		}
	}
	return found.sort(byDistance).slice(0, limit);
}

const byDistance = (a: NearRouter, b: NearRouter) => a.distance - b.distance || a.id - b.id;

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
