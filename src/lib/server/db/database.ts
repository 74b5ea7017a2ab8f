import type { Kysely, RawBuilder, Selectable, Transaction } from 'kysely';
import type { Position } from '#lib/domain/geo.ts';
import { migrate } from './migrate.ts';
import type { RoutersTable, Schema } from './schema.ts';

/**
 * The database, SQLite or PostgreSQL. Stores are written once against `db`; the dialect files (sqlite.ts,
 * postgres.ts) implement the parts that differ.
 */
export interface Database {
	kind: 'sqlite' | 'postgres';
	/** For reads and single statements outside a transaction. */
	db: Kysely<Schema>;
	/**
	 * Runs `work` in one serializable transaction. `work` may run more than once (conflicts are retried), so it must
	 * only run queries through `trx`: no network calls, no notifications.
	 */
	transact<T>(work: (trx: Tx) => Promise<T>): Promise<T>;
	/**
	 * Writes data that no answer depends on, in one transaction that runs once. It fails almost at once while another
	 * connection writes to an embedded database, and its commit does not wait for the disk: a crash of the machine
	 * may lose it.
	 */
	writeBehind(work: (trx: Tx) => Promise<void>): Promise<void>;
	/** SQL for the end of a sub-select that claims rows, so that two processes never claim the same one. */
	lockClaimed: RawBuilder<unknown>;
	/** Routers that are not disabled, nearest first, then by id. */
	nearestRouters(search: NearSearch): Promise<NearRouter[]>;
	/** True if a unique index refused a row. */
	isUniqueViolation(error: unknown): boolean;
	/** True if several processes may share this database. */
	shared: boolean;
	/** Checks that the database answers and accepts writes. @throws the database's error if not */
	ping(): Promise<void>;
	close(): Promise<void>;
}

/** A query runner: the database itself or a transaction. */
export type Queries = Kysely<Schema>;
export type Tx = Transaction<Schema>;

export interface NearSearch {
	centre: Position;
	radiusMetres: number;
	/** Position in the order after which the result begins. */
	after: { distance: number; id: number } | null;
	limit: number;
}

/** `distance` in metres. */
export type NearRouter = Selectable<RoutersTable> & { distance: number };

export type { Position };

/**
 * Opens a database and migrates it to this version's schema.
 * @throws NewerDatabaseError if a newer version of Airtill has migrated it
 */
export async function openDatabase(url: string, options: { poolSize: number }): Promise<Database> {
	const database = await open(url, options);
	try {
		await migrate(database);
	} catch (error) {
		await database.close();
		throw error;
	}
	return database;
}

async function open(url: string, options: { poolSize: number }): Promise<Database> {
	if (url.startsWith('file:')) {
		const { openSqlite } = await import('./sqlite.ts');
		return openSqlite(url.slice('file:'.length));
	}
	const { openPostgres } = await import('./postgres.ts');
	return openPostgres(url, options);
}
