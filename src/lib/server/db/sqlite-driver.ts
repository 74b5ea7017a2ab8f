import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import {
	SqliteAdapter,
	SqliteIntrospector,
	SqliteQueryCompiler,
	type CompiledQuery,
	type DatabaseConnection,
	type Dialect,
	type Driver,
	type Kysely,
	type QueryResult,
	type TransactionSettings
} from 'kysely';

/**
 * node:sqlite for Kysely. The driver of SQLite is synchronous: were SQLite to wait until another program has finished
 * writing, nothing in this process would run meanwhile. So it never waits (`busy_timeout` is 0); what finds the database
 * busy lets others have their turn here and tries again, and reads, which no writer holds up, go on.
 */
export function sqliteDialect(connection: DatabaseSync): Dialect {
	return {
		createDriver: () => createDriver(connection),
		createQueryCompiler: () => new SqliteQueryCompiler(),
		createAdapter: () => new Adapter(),
		createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db)
	};
}

/**
 * Transactions of this level give way: they fail at once where they would have to wait for another program, and their
 * commit does not wait for the disk. (SQLite itself has no levels.)
 */
export const GIVES_WAY = 'read uncommitted';

/** How long a statement or the beginning of a transaction waits for another process (the command line, say). */
const WAIT_MS = 10_000;
const MAX_PAUSE_MS = 25;
/** Whether a commit is on the disk before it is reported; cannot be changed inside a transaction. */
const STRICT = 'PRAGMA synchronous = FULL';
const LOOSE = 'PRAGMA synchronous = NORMAL';
/** Result code SQLITE_BUSY, the low byte of all its kinds, https://sqlite.org/rescode.html */
const BUSY = 5;

/** Turns are taken in {@link createDriver}, so that waiting between two tries holds up nobody. */
class Adapter extends SqliteAdapter {
	override get supportsMultipleConnections(): boolean {
		return true;
	}
}

/** What one user of the database does; all of them share the one connection. */
interface Session extends DatabaseConnection {
	/** Ends the turn that its transaction has; null outside of one. */
	endTurn: (() => void) | null;
	/** Its transaction's commit does not wait for the disk. */
	isLoose: boolean;
}

function createDriver(connection: DatabaseSync): Driver {
	const run = runner(connection);
	const takeTurn = createTurns();

	/** Does something in a turn of its own, again and again while another process is in the way. */
	async function patiently<T>(attempt: (endTurn: () => void) => T, waitMs = WAIT_MS): Promise<T> {
		const deadline = performance.now() + waitMs;
		for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
			const endTurn = await takeTurn();
			try {
				return attempt(endTurn);
			} catch (error) {
				endTurn();
				if (!isBusy(error) || performance.now() >= deadline) throw error;
			}
			await sleep(pauseMs);
		}
	}

	const statement = <R>(query: CompiledQuery) =>
		patiently((endTurn) => {
			const result = run<R>(query);
			endTurn();
			return result;
		});

	function newSession(): Session {
		const session: Session = {
			endTurn: null,
			isLoose: false,
			executeQuery: async <R>(query: CompiledQuery) =>
				session.endTurn ? run<R>(query) : statement<R>(query),
			async *streamQuery<R>(query: CompiledQuery) {
				yield await session.executeQuery<R>(query);
			}
		};
		return session;
	}

	/** The transaction is over: the next in turn finds the connection as it was. */
	function end(session: Session): void {
		if (session.isLoose) connection.exec(STRICT);
		session.isLoose = false;
		session.endTurn?.();
		session.endTurn = null;
	}

	function rollBack(session: Session): void {
		// SQLite has rolled back by itself after some errors, such as a full disk.
		if (connection.isTransaction) connection.exec('rollback');
		end(session);
	}

	return {
		init: async () => {},
		acquireConnection: async () => newSession(),
		/**
		 * `begin immediate`: a transaction that starts by reading and then writes would otherwise fail when another process
		 * wrote in between.
		 */
		async beginTransaction(given, { isolationLevel }: TransactionSettings) {
			const session = given as Session;
			const givesWay = isolationLevel === GIVES_WAY;
			session.endTurn = await patiently(
				(endTurn) => {
					if (givesWay) connection.exec(LOOSE);
					try {
						connection.exec('begin immediate');
					} catch (error) {
						if (givesWay) connection.exec(STRICT);
						throw error;
					}
					return endTurn;
				},
				givesWay ? 0 : WAIT_MS
			);
			session.isLoose = givesWay;
		},
		async commitTransaction(given) {
			const session = given as Session;
			connection.exec('commit');
			end(session);
		},
		rollbackTransaction: async (session) => rollBack(session as Session),
		async releaseConnection(session) {
			if ((session as Session).endTurn) rollBack(session as Session);
		},
		async destroy() {
			connection.close();
		}
	};
}

const isBusy = (error: unknown): boolean =>
	error instanceof Error &&
	'errcode' in error &&
	typeof error.errcode === 'number' &&
	(error.errcode & 0xff) === BUSY;

/** One after the other, in the order in which they came. @returns waits for a turn; what that gives ends it */
function createTurns(): () => Promise<() => void> {
	let last: Promise<void> = Promise.resolve();
	return async () => {
		const before = last;
		let endTurn = () => {};
		last = new Promise((resolve) => (endTurn = resolve));
		await before;
		return endTurn;
	};
}

const MAX_PREPARED = 500;

/** Runs statements, each prepared once. */
function runner(connection: DatabaseSync): <R>(query: CompiledQuery) => QueryResult<R> {
	const prepare = (text: string) => {
		const statement = connection.prepare(text);
		return { statement, isReader: statement.columns().length > 0 };
	};
	const prepared = new Map<string, ReturnType<typeof prepare>>();
	return <R>({ sql, parameters }: CompiledQuery) => {
		let known = prepared.get(sql);
		if (!known) {
			known = prepare(sql);
			if (prepared.size >= MAX_PREPARED) prepared.clear();
			prepared.set(sql, known);
		}
		const values = parameters as SQLInputValue[];
		if (known.isReader) return { rows: known.statement.all(...values) as R[] };
		const { changes, lastInsertRowid } = known.statement.run(...values);
		return { rows: [], insertId: BigInt(lastInsertRowid), numAffectedRows: BigInt(changes) };
	};
}
