import {
	type Kysely,
	type LogEvent,
	type RawBuilder,
	type SqlBool,
	type Transaction,
	type TransactionBuilder,
	sql
} from 'kysely';
import type { Position } from '#lib/domain/geo.ts';
import { migrate } from './migrate.ts';
import type { Row, Schema } from './schema.ts';

/** What a request and a job have in common. */
export interface Writer {
	db: Reads;
	/**
	 * Runs `work` in one transaction. On PostgreSQL it is read committed: each statement sees what others have committed
	 * before it, so what `work` decides from must be held by a lock, a unique index or a conditional change
	 * (src/docs/decisions/locks.md). It runs again after a deadlock, so `work` must only run queries through `trx`: no
	 * network calls, no notifications.
	 */
	transact<T>(work: (trx: Tx) => Promise<T>): Promise<T>;
}

/** Runs the queries of the stores on SQLite or PostgreSQL. sqlite.ts and postgres.ts implement the differences. */
export interface Database extends Writer {
	kind: 'sqlite' | 'postgres';
	/** For reads and single statements outside a transaction. */
	db: Kysely<Schema>;
	/**
	 * Like `db`, but on SQLite a crash of the machine may lose the newest of these writes. The next commit of `db` stores
	 * them too, so that the rest is always an earlier state.
	 */
	unsynced: Kysely<Schema>;
	/**
	 * Writes data that no answer depends on, in one transaction without retries. A crash of the machine may lose it.
	 * On SQLite it fails almost at once while another connection writes.
	 */
	writeBehind(work: (trx: Tx) => Promise<void>): Promise<void>;
	/** SQL that ends a sub-select which claims rows, so that two processes never claim the same one. */
	lockClaimed: RawBuilder<unknown>;
	/** Routers that are not disabled, nearest first, then by id. */
	nearestRouters(search: NearSearch): Promise<NearRouter[]>;
	/** Matches routers with a word that begins with each of `words`, which have letters and digits only. */
	hasWords(words: readonly string[]): RawBuilder<SqlBool>;
	isUniqueViolation(error: unknown): boolean;
	/** Counts the connections of the pool; null for an embedded database. */
	connections(): { busy: number; idle: number; waiting: number } | null;
	/** Checks that the database answers and accepts writes. @throws the database's error if not */
	ping(): Promise<void>;
	close(): Promise<void>;
}

export interface DatabaseOptions {
	poolSize: number;
	/** On PostgreSQL; not worth it for few statements. */
	areStatementsNamed?: boolean;
	/** Receives the database's code of each query that fails, including those that are tried again. */
	onError?: (code: string) => void;
}

export type Queries = Kysely<Schema>;
/** For functions that only read. */
export type Reads = Pick<Queries, 'selectFrom' | 'getExecutor'>;
export type Tx = Transaction<Schema>;

export interface NearSearch {
	centre: Position;
	radiusMetres: number;
	/** Position in the order after which the result begins. */
	after: { distance: number; id: number } | null;
	limit: number;
}

/** `distance` in metres. */
export type NearRouter = Row<'routers'> & { distance: number };

const tasksOf = new WeakMap<Tx, (() => void)[]>();

/** Runs `task`, which must not fail, after the commit of a transaction of `transact`. */
export function afterCommit(trx: Tx, task: () => void): void {
	tasksOf.get(trx)?.push(task);
}

/** Runs one attempt of a transaction, then its tasks. A failed attempt drops them. */
export async function withTasks<T>(transaction: TransactionBuilder<Schema>, work: (trx: Tx) => Promise<T>) {
	const tasks: (() => void)[] = [];
	const result = await transaction.execute((trx) => {
		tasksOf.set(trx, tasks);
		return work(trx);
	});
	for (const task of tasks) task();
	return result;
}

/** Migrates the database to this version's schema. @throws Refused */
export async function openDatabase(url: string, options: DatabaseOptions): Promise<Database> {
	const database = await connectDatabase(url, options);
	try {
		await migrate(database);
	} catch (error) {
		await database.close();
		throw error;
	}
	return database;
}

/** Opens the database with the schema that it has. */
export async function connectDatabase(url: string, options: DatabaseOptions): Promise<Database> {
	if (url.startsWith('file:')) {
		const { openSqlite } = await import('./sqlite.ts');
		return openSqlite(url.slice('file:'.length), options);
	}
	const { openPostgres } = await import('./postgres.ts');
	return openPostgres(url, options);
}

const QUIET_MS = 5_000;
/** More than any transaction writes. */
const NEEDED_BYTES = 1 << 20;

/**
 * Checks whether the database accepts writes: with a full disk, or read-only, it still answers reads.
 * After a failed write it counts as unhealthy for QUIET_MS, so that the result does not flicker.
 * Then each check writes until one succeeds.
 * @param isStorageFailure whether an error says that the database cannot store anything now
 * @param options.freeBytes on the database's disk, if known: a small write may fit where an order does not
 */
export function createWriteHealth(
	isStorageFailure: (error: unknown) => boolean,
	{ freeBytes, onError }: { freeBytes?: () => Promise<number>; onError: (error: unknown) => void }
) {
	let failedAt: number | null = null;
	return {
		/** Notes statements that failed. */
		log(event: LogEvent) {
			if (event.level !== 'error') return;
			onError(event.error);
			if (isStorageFailure(event.error)) failedAt = performance.now();
		},
		/** @throws Error when the database does not answer, or accepts no writes */
		async check(db: Kysely<Schema>) {
			// The schema may be on another server than the one that answers.
			await sql`select 1 from schema_migrations limit 1`.execute(db);
			if (failedAt === null) return;
			const since = performance.now() - failedAt;
			if (since < QUIET_MS) throw new Error(`The database refused a write ${Math.round(since)} ms ago`);
			const free = (await freeBytes?.()) ?? Infinity;
			if (free < NEEDED_BYTES) throw new Error(`The database's disk has ${free} bytes left`);
			// This changes no data but needs space.
			await sql`update schema_migrations set name = name`.execute(db);
			failedAt = null;
		}
	};
}
