import { type Stats, statSync, unwatchFile, watchFile } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import {
	CompiledQuery,
	type DatabaseConnection,
	Kysely,
	SqliteAdapter,
	type SqliteDatabase,
	SqliteDialect,
	SqliteDriver,
	type SqliteStatement,
	sql
} from 'kysely';
import {
	closeToOthers,
	createNewPrivateFile,
	createPrivateFile,
	createPrivateFolder
} from '../platform/private-files.ts';
import {
	type Database,
	type DatabaseOptions,
	type NearRouter,
	type NearSearch,
	type Queries,
	createWriteHealth,
	withTasks
} from './database.ts';
import type { Row, Schema } from './schema.ts';
import { messageOf } from '../platform/errors.ts';
import { type Position, boxesAround, byDistance, distanceMetres } from '#lib/domain/geo.ts';
import { setTimeout as sleep } from 'node:timers/promises';

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

/**
 * Opens the embedded database with foreign keys and a write-ahead log. A reported commit is on the disk
 * (`synchronous=FULL`).
 * @param path file to open; its folder is created
 */
export function openSqlite(path: string, { onError }: Pick<DatabaseOptions, 'onError'>): Database {
	createPrivateFolder(dirname(path));
	createPrivateFile(path);
	const opened = statSync(path);
	const health = createWriteHealth((error) => NOT_STORED.includes(resultCode(error) & 0xff), {
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
		lockClaimed: sql``,
		nearestRouters: (search) => nearestRouters(db, search),
		hasWords: (words) => sql`id in (select rowid from router_words
			where router_words match ${words.map((word) => `"${word}"*`).join(' ')})`,
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

/**
 * A fair semaphore. Resolves when one of `permits` is free, in the order of the calls, with a function that releases it; a second call does nothing.
 */
function createSemaphore(permits = 1): () => Promise<() => void> {
	const waiting: (() => void)[] = [];
	let free = permits;
	const release = () => {
		const next = waiting.shift();
		if (next) next();
		else free += 1;
	};
	return async () => {
		if (free > 0) free -= 1;
		else await new Promise<void>((resolve) => waiting.push(resolve));
		let isHeld = true;
		return () => {
			if (isHeld) release();
			isHeld = false;
		};
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
function watchForLoss(path: string, connection: DatabaseSync, opened: Stats): () => void {
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
 * The circle that is read shrinks while it holds too many routers, then grows until it fills the page, so the cost
 * depends on the page and not on the density of routers. A later page also reads the positions before it.
 */

/** Largest error of the R*Tree's 32-bit positions, rounded up: about 2.4 m in each direction. */
const ROUNDING_METRES = 5;
/** Extra rows read, so that disabled and equally distant routers seldom need a second query. */
const SPARE = 10;
/** The circle shrinks above this many positions per requested router. */
const CROWDED = 4;
const SHRINKAGE = 4;
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

/** @param most `Infinity` for all. @returns null if there are more */
async function candidatesWithin(
	queries: Queries,
	{ centre, radiusMetres, after }: NearSearch,
	most: number
): Promise<Candidate[] | null> {
	const candidates: Candidate[] = [];
	for (const { minLat, maxLat, minLon, maxLon } of boxesAround(centre, radiusMetres)) {
		const { rows: positions } = await sql<Position & { id: number }>`
			select id, min_lat as lat, min_lon as lon from router_positions
			where min_lat <= ${maxLat} and max_lat >= ${minLat} and min_lon <= ${maxLon} and max_lon >= ${minLon}
			limit ${most === Infinity ? -1 : most + 1}`.execute(queries);
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

/** @param candidates all within the radius, nearest first */
async function nearestOf(
	queries: Queries,
	{ centre, radiusMetres, after, limit }: NearSearch,
	candidates: readonly Candidate[]
): Promise<NearRouter[]> {
	for (let count = limit + SPARE; ; count *= 4) {
		const ids = JSON.stringify(candidates.slice(0, count).map(({ id }) => id));
		const { rows } = await sql<Row<'routers'>>`
			select routers.* from json_each(${ids}) join routers on routers.id = value
			where disabled_at is null`.execute(queries);
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
	/** Within it the page is not full. */
	let short = after?.distance ?? 0;
	let reach = after ? grow(short) : radiusMetres;
	for (;;) {
		reach = Math.min(reach, radiusMetres);
		const within = { ...search, radiusMetres: reach };
		const candidates = await candidatesWithin(queries, within, most);
		if (candidates) {
			const page = await nearestOf(queries, within, candidates);
			if (page.length >= limit || reach >= radiusMetres) return page;
			short = reach;
			reach = grow(short);
		} else if (reach < Math.max(CLOSE_METRES, CLOSE * short)) most = Infinity;
		else reach = short === 0 ? reach / SHRINKAGE : Math.sqrt(short * reach);
	}
}

const grow = (metres: number): number => Math.max(GROWN_METRES, GROWTH * metres);

interface Options {
	/** How long a statement waits for another connection to finish writing. */
	waitMs: number;
	/** Dialects of one connection share one semaphore. */
	acquire: () => Promise<() => void>;
}

/**
 * Kysely's SQLite dialect over node:sqlite, which is synchronous: a wait for another program's lock would block this
 * process. So `busy_timeout` is 0, and a statement that finds the file locked gives up its turn and tries again.
 * Transactions start with `begin immediate`. Otherwise one that reads first would fail after another process's write.
 */
export class NodeSqliteDialect extends SqliteDialect {
	readonly #database: SqliteDatabase;
	readonly #options: Options;

	constructor(
		connection: DatabaseSync,
		{ waitMs, acquire = createSemaphore() }: Pick<Options, 'waitMs'> & Partial<Options>
	) {
		const database = withStatementCache(connection);
		super({ database });
		this.#database = database;
		this.#options = { waitMs, acquire };
	}

	override createDriver(): SerializingDriver {
		return new SerializingDriver(this.#database, this.#options);
	}

	override createAdapter(): SqliteAdapter {
		return new SerializingAdapter();
	}
}

const MAX_PAUSE_MS = 50;

/** Replaces Kysely's mutex, which a statement would hold while it waits for the file. */
class SerializingAdapter extends SqliteAdapter {
	override get supportsMultipleConnections(): boolean {
		return true;
	}
}

/** Gives statements and transactions turns on the connection, in the order of their requests. */
class SerializingDriver extends SqliteDriver {
	readonly #waitMs: number;
	readonly #acquire: Options['acquire'];
	readonly #release = new WeakMap<DatabaseConnection, () => void>();

	constructor(database: SqliteDatabase, { waitMs, acquire }: Options) {
		super({ database });
		this.#waitMs = waitMs;
		this.#acquire = acquire;
	}

	override async acquireConnection(): Promise<DatabaseConnection> {
		const shared = await super.acquireConnection();
		const own: DatabaseConnection = {
			executeQuery: <R>(query: CompiledQuery) =>
				this.#release.has(own)
					? shared.executeQuery<R>(query)
					: this.#whileBusy(async (release) => {
							const result = await shared.executeQuery<R>(query);
							release();
							return result;
						}),
			async *streamQuery<R>(query: CompiledQuery) {
				yield await own.executeQuery<R>(query);
			}
		};
		return own;
	}

	override async beginTransaction(own: DatabaseConnection): Promise<void> {
		const shared = await super.acquireConnection();
		await this.#whileBusy(async (release) => {
			await shared.executeQuery(CompiledQuery.raw('begin immediate'));
			this.#release.set(own, release);
		});
	}

	override async commitTransaction(own: DatabaseConnection): Promise<void> {
		await super.commitTransaction(own);
		this.#end(own);
	}

	override async rollbackTransaction(own: DatabaseConnection): Promise<void> {
		try {
			await super.rollbackTransaction(own);
		} finally {
			this.#end(own);
		}
	}

	#end(own: DatabaseConnection): void {
		this.#release.get(own)?.();
		this.#release.delete(own);
	}

	/** Runs `attempt` in its own turn, and again while another program holds the lock. `attempt` ends its turn. */
	async #whileBusy<T>(attempt: (release: () => void) => Promise<T>): Promise<T> {
		const deadline = performance.now() + this.#waitMs;
		for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
			const release = await this.#acquire();
			try {
				return await attempt(release);
			} catch (error) {
				release();
				if (!isBusy(error) || performance.now() >= deadline) throw error;
			}
			await sleep(pauseMs);
		}
	}
}

/** Returns SQLite's result code, https://sqlite.org/rescode.html. Its low byte is the kind of the error. */
export const resultCode = (error: unknown): number =>
	error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0;

/** SQLITE_BUSY */
const BUSY = 5;

const isBusy = (error: unknown): boolean => (resultCode(error) & 0xff) === BUSY;

const MAX_STATEMENTS = 500;

/** The part of better-sqlite3 that Kysely uses; each statement is prepared once. */
function withStatementCache(connection: DatabaseSync): SqliteDatabase {
	const statements = new Map<string, SqliteStatement>();
	return {
		close: () => connection.close(),
		prepare(sql) {
			// After some errors, such as a full disk, SQLite has already rolled back.
			if (sql === 'rollback' && !connection.isTransaction) return NOTHING;
			let statement = statements.get(sql);
			if (!statement) {
				if (statements.size >= MAX_STATEMENTS) statements.clear();
				statements.set(sql, (statement = prepare(connection, sql)));
			}
			return statement;
		}
	};
}

const NOTHING: SqliteStatement = {
	reader: false,
	all: () => [],
	run: () => ({ changes: 0, lastInsertRowid: 0 }),
	iterate: () => [].values()
};

function prepare(connection: DatabaseSync, sql: string): SqliteStatement {
	const statement = connection.prepare(sql);
	// V8 treats objects of node:sqlite as dictionaries: 60 rows of routers take 250 µs instead of 90.
	statement.setReturnArrays(true);
	const columnNames = () => statement.columns().map(({ name }) => name);
	let columns = columnNames();
	const all = (parameters: readonly unknown[]) => {
		const rows = statement.all(...(parameters as SQLInputValue[])) as unknown as unknown[][];
		// A newer version in another process may have added columns, which `*` includes.
		if (rows[0] && rows[0].length !== columns.length) columns = columnNames();
		return rows.map((row) => toObject(columns, row));
	};
	return {
		reader: columns.length > 0,
		all,
		run: (parameters) => statement.run(...(parameters as SQLInputValue[])),
		iterate: (parameters) => all(parameters).values()
	};
}

function toObject(columns: readonly string[], values: readonly unknown[]): Record<string, unknown> {
	const row: Record<string, unknown> = {};
	for (let index = 0; index < columns.length; index += 1) row[columns[index] ?? ''] = values[index];
	return row;
}
