import { type Stats, statSync, unwatchFile, watchFile } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely, type Selectable, sql } from 'kysely';
import {
	closeToOthers,
	createNewPrivateFile,
	createPrivateFile,
	createPrivateFolder
} from '../../platform/private-files.ts';
import {
	createSemaphore,
	type Database,
	type DatabaseOptions,
	type NearRouter,
	type NearSearch,
	type Queries,
	withTasks
} from '../database.ts';
import type { RoutersTable, Schema } from '../schema.ts';
import { NodeSqliteDialect, resultCode } from './driver.ts';
import { createWriteHealth } from '../write-health.ts';
import { messageOf } from '../../platform/errors.ts';
import { type Box, boxesAround, byDistance, distanceMetres, type Position } from '#lib/domain/geo.ts';

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
		write: (work) => withTasks(db.transaction(), work),
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

const LOOK_MS = 2_000;

/**
 * Ends the process when the file of its database is deleted, moved or replaced. SQLite would not notice: everything
 * stored from then on is gone after the next start. All that is stored until now is kept in another file.
 * @param opened from before the connection, which may have waited for a command that replaces the file
 * @returns ends the watch
 */
export function watchForLoss(path: string, connection: DatabaseSync, opened: Stats): () => void {
	if (!isSame(path, opened)) throw new Error(`${path} was replaced while Airtill started. Start it again.`);
	const look = () => {
		if (isSame(path, opened)) return;
		unwatchFile(path, look);
		const what = `${path} was deleted, moved or replaced while Airtill ran, so Airtill stops.`;
		throw new Error(`${what} ${keep(path, connection)}`);
	};
	watchFile(path, { interval: LOOK_MS, persistent: false }, look);
	return () => unwatchFile(path, look);
}

function isSame(path: string, { dev, ino }: Stats): boolean {
	try {
		const file = statSync(path, { throwIfNoEntry: false });
		return file?.ino === ino && file.dev === dev;
	} catch {
		// A folder that this user may not enter for a while hides the file only.
		return true;
	}
}

/** @returns what an administrator does with the data */
function keep(path: string, connection: DatabaseSync): string {
	const kept = `${path}.kept-${new Date().toISOString().replace(/\D/g, '')}`;
	try {
		createNewPrivateFile(kept);
		// Nobody has an answer that depends on an open transaction.
		if (connection.isTransaction) connection.exec('rollback');
		connection.prepare('vacuum into ?').run(kept);
		// SQLite would apply what is left of the log to the new file.
		connection.exec('pragma wal_checkpoint(truncate)');
		return `Its data is in ${kept}: to go on with it, stop Airtill and run "airtill restore ${kept} --force".`;
	} catch (error) {
		return `Its data could not be kept in ${kept}: ${messageOf(error)}.`;
	}
}

/**
 * Finds the nearest routers on SQLite. The R*Tree holds positions as 32-bit floats, so its distances are approximate
 * and only possible results are read. Distances are computed here: SQL expressions take more than twice as long.
 *
 * The circle that is read shrinks while it holds too many routers, and grows while it does not fill the page, so the
 * cost depends on the page and not on the density of routers. A later page also reads the positions before it.
 */

/** Largest error of the R*Tree's 32-bit positions, rounded up: about 2.4 m in each direction. */
const ROUNDING_METRES = 5;
/** Extra rows read, so that disabled and equally distant routers seldom need a second query. */
const SPARE = 10;
/** The circle shrinks above this many positions per requested router. */
const CROWDED = 4;
/** A circle without a full page grows at least to this. */
const GROWN_METRES = 150;
const GROWTH = 1.5;
/** Circles this close to each other are not worth another step. */
const CLOSE = 1.1;
const CLOSE_METRES = 1;

interface Candidate {
	id: number;
	atLeast: number;
}

/** @param most `Infinity` for all */
async function positionsIn(queries: Queries, box: Box, most: number): Promise<(Position & { id: number })[]> {
	const { rows } = await sql<Position & { id: number }>`
		select id, min_lat as lat, min_lon as lon from router_positions
		where min_lat <= ${box.maxLat} and max_lat >= ${box.minLat}
			and min_lon <= ${box.maxLon} and max_lon >= ${box.minLon}
		limit ${most === Infinity ? -1 : most + 1}`.execute(queries);
	return rows;
}

/** Returns null if there are more than `most`. */
async function candidatesWithin(
	queries: Queries,
	{ centre, radiusMetres, after }: NearSearch,
	most: number
): Promise<Candidate[] | null> {
	const candidates: Candidate[] = [];
	for (const box of boxesAround(centre, radiusMetres)) {
		const positions = await positionsIn(queries, box, most);
		if (positions.length > most) return null;
		for (const position of positions) {
			const approximate = distanceMetres(centre, position);
			const atLeast = approximate - ROUNDING_METRES;
			if (atLeast > radiusMetres || (after && approximate + ROUNDING_METRES < after.distance)) continue;
			candidates.push({ id: position.id, atLeast });
		}
	}
	return candidates.sort((a, b) => a.atLeast - b.atLeast);
}

async function enabledRouters(queries: Queries, ids: readonly number[]) {
	const { rows } = await sql<Selectable<RoutersTable>>`
		select routers.* from json_each(${JSON.stringify(ids)}) join routers on routers.id = value
		where disabled_at is null`.execute(queries);
	return rows;
}

/** @param candidates all within the radius, nearest first */
async function nearestOf(
	queries: Queries,
	{ centre, radiusMetres, after, limit }: NearSearch,
	candidates: readonly Candidate[]
): Promise<NearRouter[]> {
	for (let count = limit + SPARE; ; count *= 4) {
		const rows = await enabledRouters(
			queries,
			candidates.slice(0, count).map(({ id }) => id)
		);
		// Beyond the nearest unread candidate, an unread router may be closer.
		const certain = candidates[count]?.atLeast ?? Infinity;
		const found = rows
			.map((row) => ({ ...row, distance: distanceMetres(centre, row) }))
			.filter((row) => row.distance <= radiusMetres && row.distance < certain)
			.filter((row) => !after || byDistance(row, after) > 0);
		if (found.length >= limit || certain === Infinity) return found.sort(byDistance).slice(0, limit);
	}
}

export async function nearestRouters(queries: Queries, search: NearSearch): Promise<NearRouter[]> {
	const { radiusMetres, after, limit } = search;
	// The routers before a later page are unknown, so its circle grows from there.
	let most = after ? Infinity : CROWDED * (limit + SPARE);
	/** Within `short` the page is not full; within `crowded` are too many routers. */
	let short = after?.distance ?? 0;
	let crowded = Infinity;
	let reach = after ? grown(short) : radiusMetres;
	for (;;) {
		reach = Math.min(reach, radiusMetres);
		const within = { ...search, radiusMetres: reach };
		const candidates = await candidatesWithin(queries, within, most);
		if (candidates) {
			const page = await nearestOf(queries, within, candidates);
			if (page.length >= limit || reach >= radiusMetres) return page;
			short = reach;
		} else crowded = reach;
		if (crowded < Math.max(CLOSE_METRES, CLOSE * short)) {
			// Many are equally far, or disabled.
			most = Infinity;
			reach = crowded;
			crowded = Infinity;
		} else if (crowded === Infinity) reach = grown(short);
		else reach = short === 0 ? crowded / 4 : Math.sqrt(short * crowded);
	}
}

const grown = (metres: number): number => Math.max(GROWN_METRES, GROWTH * metres);
