import type { Kysely, RawBuilder, Selectable, Transaction } from 'kysely';
import type { Position } from '#lib/domain/geo.ts';
import { migrate } from './migrate.ts';
import type { RoutersTable, Schema } from './schema.ts';

/**
 * The database, whichever it is. Store code is written once against `db`; what must differ stands in the
 * dialect files (sqlite.ts, postgres.ts) behind this interface.
 */
export interface Database {
	kind: 'sqlite' | 'postgres';
	/** For reads and single statements outside a transaction. */
	db: Kysely<Schema>;
	/**
	 * Runs `work` in one transaction that behaves as if it ran alone. It may run more than once (conflicts are
	 * retried), so it must do nothing but queries through `trx`: no network, no notifications.
	 */
	transact<T>(work: (trx: Tx) => Promise<T>): Promise<T>;
	/**
	 * Writes what nobody waits for, as one transaction that gives way: it fails at once where it would have to wait for
	 * another writer of an embedded database, and its commit does not wait for the disk (a crash of the machine may
	 * lose it, and nothing else). The rule for queries is that of `transact`, but it runs once.
	 */
	writeBehind(work: (trx: Tx) => Promise<void>): Promise<void>;
	/** SQL after a sub-select that claims rows, so that two processes never take the same one. */
	lockClaimed: RawBuilder<unknown>;
	/** Routers that are not disabled, nearest first, then by id. */
	nearestRouters(search: NearSearch): Promise<NearRouter[]>;
	/** True for an error that says a unique index refused a row. */
	isUniqueViolation(error: unknown): boolean;
	/** Several processes may share this database, so changes can come from elsewhere. */
	shared: boolean;
	/** Shows that the database answers, and that it stores what is written. @throws what it says when not */
	ping(): Promise<void>;
	close(): Promise<void>;
}

/** A query runner: the database itself or a transaction. */
export type Queries = Kysely<Schema>;
export type Tx = Transaction<Schema>;

export interface NearSearch {
	centre: Position;
	radiusMetres: number;
	/** Place in the order after which the answer begins. */
	after: { distance: number; id: number } | null;
	limit: number;
}

/** `distance` in metres. */
export type NearRouter = Selectable<RoutersTable> & { distance: number };

export type { Position };

/**
 * Opens the database that the URL names and brings it to this version's schema.
 * @throws NewerDatabaseError when a newer version of Airtill has migrated it
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

/** Only the driver that is used is loaded. */
async function open(url: string, options: { poolSize: number }): Promise<Database> {
	if (url.startsWith('file:')) {
		const { openSqlite } = await import('./sqlite.ts');
		return openSqlite(url.slice('file:'.length));
	}
	const { openPostgres } = await import('./postgres.ts');
	return openPostgres(url, options);
}
