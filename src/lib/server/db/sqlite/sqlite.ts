import { statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely, sql } from 'kysely';
import { closeToOthers, createPrivateFile, createPrivateFolder } from '../../platform/private-files.ts';
import { createSemaphore, withTasks, type Database, type DatabaseOptions } from '../database.ts';
import type { Schema } from '../schema.ts';
import { NodeSqliteDialect, resultCode } from './driver.ts';
import { watchForLoss } from './lost-file.ts';
import { nearestRouters } from './nearest.ts';
import { createWriteHealth } from '../write-health.ts';

/** Holds 100,000 routers with their index: the routers of one neighbourhood are spread over the file. */
const CACHE_KIB = 32_000;

const OPEN_TIMEOUT_MS = 10_000;
const WRITE_WAIT_MS = 10_000;
/** Short, but longer than most transactions of this process, which also hold the lock. */
const WRITE_BEHIND_WAIT_MS = 100;

/** Result codes SQLITE_CONSTRAINT_UNIQUE and SQLITE_CONSTRAINT_PRIMARYKEY. */
const NOT_UNIQUE: readonly number[] = [2067, 1555];

/** SQLITE_FULL, SQLITE_IOERR, SQLITE_READONLY, SQLITE_CANTOPEN: low bytes of their kinds. */
const NOT_STORED: readonly number[] = [13, 10, 8, 14];

const isStorageFailure = (error: unknown): boolean => NOT_STORED.includes(resultCode(error) & 0xff);

/**
 * Opens the embedded database with foreign keys and a write-ahead log. A reported commit is on the disk
 * (`synchronous=FULL`).
 * @param path file to open; its folder is created
 */
export function openSqlite(path: string, { onError }: Pick<DatabaseOptions, 'onError'>): Database {
	createPrivateFolder(dirname(path));
	createPrivateFile(path);
	const opened = statSync(path);
	const health = createWriteHealth(isStorageFailure, {
		async freeBytes() {
			const { bavail, bsize } = await statfs(dirname(path));
			return bavail * bsize;
		},
		onError: (error) => onError?.(String(resultCode(error)))
	});
	const log = health.log;
	const main = connect(path, `PRAGMA synchronous = FULL; PRAGMA cache_size = -${CACHE_KIB}`);
	const acquire = createSemaphore();
	const withSemaphore = (semaphore: typeof acquire) =>
		new Kysely<Schema>({
			dialect: new NodeSqliteDialect(main, { waitMs: WRITE_WAIT_MS, acquire: semaphore }),
			log
		});
	const db = withSemaphore(acquire);
	const second = connect(path, 'PRAGMA synchronous = NORMAL');
	// SQLite creates the other two with the mode of the first. Only now it is certain that this is a database.
	for (const file of [path, `${path}-wal`, `${path}-shm`]) closeToOthers(file, 'file');
	const endWatch = watchForLoss(path, main, opened);
	const behind = new Kysely<Schema>({
		dialect: new NodeSqliteDialect(second, { waitMs: WRITE_BEHIND_WAIT_MS }),
		log
	});
	return {
		kind: 'sqlite',
		db,
		unsynced: withSemaphore(unsyncedSemaphore(main, acquire)),
		transact: (work) => withTasks(db.transaction(), work),
		writeBehind: (work) => behind.transaction().execute(work),
		// `begin immediate` is the lock.
		lock: async () => {},
		lockClaimed: sql``,
		nearestRouters: (search) => nearestRouters(db, search),
		hasWords: (words) => sql`id in (select rowid from router_words
			where router_words match ${words.map((word) => `"${word}"*`).join(' ')})`,
		rates: null,
		isUniqueViolation: (error) => NOT_UNIQUE.includes(resultCode(error)),
		connections: () => null,
		ping: () => health.check(db),
		async close() {
			endWatch();
			await Promise.all([db.destroy(), behind.destroy()]);
			// Kysely closes only connections that it has used.
			for (const connection of [main, second]) if (connection.isOpen) connection.close();
		}
	};
}

/** Commits between acquire and release do not wait for the disk. */
const unsyncedSemaphore = (connection: DatabaseSync, acquire: () => Promise<() => void>) => async () => {
	const release = await acquire();
	try {
		connection.exec('PRAGMA synchronous = NORMAL');
	} catch (error) {
		release();
		throw error;
	}
	return () => {
		try {
			connection.exec('PRAGMA synchronous = FULL');
		} finally {
			release();
		}
	};
};

function connect(path: string, settings: string): DatabaseSync {
	const connection = new DatabaseSync(path, { enableForeignKeyConstraints: true, timeout: OPEN_TIMEOUT_MS });
	connection.exec(`PRAGMA journal_mode = WAL; PRAGMA temp_store = MEMORY; ${settings}`);
	// From now on the driver waits, so that SQLite does not block the process.
	connection.exec('PRAGMA busy_timeout = 0');
	return connection;
}
