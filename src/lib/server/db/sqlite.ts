import { mkdirSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import type { Database } from './database.ts';
import type { Schema } from './schema.ts';
import { GIVES_WAY, sqliteKysely } from './sqlite-driver.ts';
import { nearestRouters } from './sqlite-nearest.ts';
import { createWriting } from './writing.ts';

/**
 * Pages in memory, at most: routers of one neighbourhood lie all over the file, and each page is a system call. Of
 * 100,000 routers all fit, with their index.
 */
const CACHE_KIB = 32_000;

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
	connection.exec(`PRAGMA busy_timeout = 0; PRAGMA cache_size = -${CACHE_KIB}`);
	const writing = createWriting(isRefusal, async () => {
		const { bavail, bsize } = await statfs(dirname(path));
		return bavail * bsize;
	});
	const db = sqliteKysely<Schema>(connection, writing.note);
	return {
		kind: 'sqlite',
		db,
		transact: (work) => writing.watch(() => db.transaction().execute(work)),
		writeBehind: (work) => writing.watch(() => db.transaction().setIsolationLevel(GIVES_WAY).execute(work)),
		lockClaimed: sql``,
		nearestRouters: (search) => nearestRouters(db, search),
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
