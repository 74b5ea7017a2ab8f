import { mkdirSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely, sql } from 'kysely';
import { boxesAround, distanceMetres, type Position } from '../../geo.ts';
import type { Database, NearRouter, NearSearch } from './database.ts';
import type { Schema } from './schema.ts';
import { GIVES_WAY, sqliteDialect } from './sqlite-driver.ts';
import { createWriting } from './writing.ts';

/** How long the opening waits for another process that opens the same file; see sqlite-driver.ts for all else. */
const OPEN_TIMEOUT_MS = 10_000;

/** Result codes SQLITE_CONSTRAINT_UNIQUE and SQLITE_CONSTRAINT_PRIMARYKEY, https://sqlite.org/rescode.html */
const NOT_UNIQUE: readonly unknown[] = [2067, 1555];

/** SQLITE_FULL, SQLITE_IOERR, SQLITE_READONLY, SQLITE_CANTOPEN: low bytes of their kinds. */
const NOT_STORED: readonly number[] = [13, 10, 8, 14];

const isRefusal = (error: unknown): boolean =>
	error instanceof Error &&
	'errcode' in error &&
	typeof error.errcode === 'number' &&
	NOT_STORED.includes(error.errcode & 0xff);

/**
 * Opens the embedded database: write-ahead log, every commit on the disk before it is reported
 * (`synchronous=FULL`), foreign keys checked.
 * @param path file to open; its folder is made
 */
export function openSqlite(path: string): Database {
	mkdirSync(dirname(path), { recursive: true });
	const connection = new DatabaseSync(path, {
		enableForeignKeyConstraints: true,
		timeout: OPEN_TIMEOUT_MS
	});
	connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY;');
	connection.exec('PRAGMA busy_timeout = 0');
	const writing = createWriting(isRefusal, async () => {
		const { bavail, bsize } = await statfs(dirname(path));
		return bavail * bsize;
	});
	const db = new Kysely<Schema>({ dialect: sqliteDialect(connection), log: writing.log });
	return {
		kind: 'sqlite',
		db,
		transact: (work) => writing.watch(() => db.transaction().execute(work)),
		writeBehind: (work) => writing.watch(() => db.transaction().setIsolationLevel(GIVES_WAY).execute(work)),
		lockClaimed: sql``,
		nearestRouters: (search) => nearestRouters(db, search),
		idsIn: (ids) => sql<number>`(select value from json_each(${JSON.stringify(ids)}))`,
		isUniqueViolation: (error) =>
			error instanceof Error && 'errcode' in error && NOT_UNIQUE.includes(error.errcode),
		shared: false,
		async ping() {
			await sql`select 1`.execute(db);
			await writing.check(db);
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
