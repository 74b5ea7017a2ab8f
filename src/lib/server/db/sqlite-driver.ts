import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import {
	DefaultConnectionProvider,
	DefaultQueryExecutor,
	Kysely,
	SqliteAdapter,
	SqliteIntrospector,
	SqliteQueryCompiler,
	type CompiledQuery,
	type DatabaseConnection,
	type Dialect,
	type Driver,
	type QueryResult,
	type TransactionSettings
} from 'kysely';

/**
 * node:sqlite for Kysely. The driver of SQLite is synchronous: were SQLite to wait until another program has finished
 * writing, nothing in this process would run meanwhile. So it never waits (`busy_timeout` is 0); what finds the database
 * busy lets others have their turn here and tries again, and reads, which no writer holds up, go on.
 * @param onError hears of every statement that failed
 */
export function sqliteKysely<Schema>(
	connection: DatabaseSync,
	onError: (error: unknown) => void
): Kysely<Schema> {
	const statements = createStatements(connection, onError);
	const driver = createDriver(connection, statements);
	const adapter = new Adapter();
	const compiler = new SqliteQueryCompiler();
	const dialect: Dialect = {
		createDriver: () => driver,
		createQueryCompiler: () => compiler,
		createAdapter: () => adapter,
		createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db)
	};
	const executor = new Executor(compiler, adapter, driver, statements.alone);
	return new Kysely({ config: { dialect }, dialect, driver, executor });
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

/** Turns are taken in {@link createStatements}, so that waiting between two tries holds up nobody. */
class Adapter extends SqliteAdapter {
	override get supportsMultipleConnections(): boolean {
		return true;
	}
}

/**
 * Takes no connection for a single statement, since there is but one: Kysely's way there and back costs more than the
 * statement. A transaction gets an executor of Kysely's own from this one, and with it a connection.
 */
class Executor extends DefaultQueryExecutor {
	readonly #alone: Statements['alone'];

	constructor(compiler: SqliteQueryCompiler, adapter: Adapter, driver: Driver, alone: Statements['alone']) {
		super(compiler, adapter, new DefaultConnectionProvider(driver));
		this.#alone = alone;
	}

	override executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
		return this.#alone<R>(query);
	}
}

/** What one user of the database does; all of them share the one connection. */
interface Session extends DatabaseConnection {
	/** Ends the turn that its transaction has; null outside of one. */
	endTurn: (() => void) | null;
	/** Its transaction's commit does not wait for the disk. */
	isLoose: boolean;
}

/** The statements of all users, one after the other. */
interface Statements {
	/** Runs one in a transaction, in the turn that this has. */
	run<R>(query: CompiledQuery): QueryResult<R>;
	/** Runs one by itself. */
	alone<R>(query: CompiledQuery): Promise<QueryResult<R>>;
	/** Does something in a turn of its own, again and again while another process is in the way. */
	patiently<T>(attempt: (endTurn: () => void) => T, waitMs: number): Promise<T>;
}

function createStatements(connection: DatabaseSync, onError: (error: unknown) => void): Statements {
	const runPrepared = runner(connection);
	const turns = createTurns();

	function run<R>(query: CompiledQuery): QueryResult<R> {
		try {
			return runPrepared<R>(query);
		} catch (error) {
			onError(error);
			throw error;
		}
	}

	async function patiently<T>(attempt: (endTurn: () => void) => T, waitMs: number): Promise<T> {
		const deadline = performance.now() + waitMs;
		for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
			const endTurn = await turns.take();
			try {
				return attempt(endTurn);
			} catch (error) {
				endTurn();
				if (!isBusy(error) || performance.now() >= deadline) throw error;
			}
			await sleep(pauseMs);
		}
	}

	return {
		run,
		patiently,
		async alone<R>(query: CompiledQuery) {
			if (turns.isFree()) {
				try {
					return run<R>(query);
				} catch (error) {
					if (!isBusy(error)) throw error;
				}
			}
			return patiently((endTurn) => {
				const result = run<R>(query);
				endTurn();
				return result;
			}, WAIT_MS);
		}
	};
}

function createDriver(connection: DatabaseSync, { run, alone, patiently }: Statements): Driver {
	function newSession(): Session {
		const session: Session = {
			endTurn: null,
			isLoose: false,
			executeQuery: async <R>(query: CompiledQuery) => (session.endTurn ? run<R>(query) : alone<R>(query)),
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
			if (connection.isOpen) connection.close();
		}
	};
}

const isBusy = (error: unknown): boolean =>
	error instanceof Error &&
	'errcode' in error &&
	typeof error.errcode === 'number' &&
	(error.errcode & 0xff) === BUSY;

interface Turns {
	/** Nobody has a turn or waits for one. */
	isFree(): boolean;
	/** Waits for a turn; what that gives ends it, once. */
	take(): Promise<() => void>;
}

/** One after the other, in the order in which they came. */
function createTurns(): Turns {
	let last: Promise<void> = Promise.resolve();
	let open = 0;
	return {
		isFree: () => open === 0,
		async take() {
			const before = last;
			let resolve = () => {};
			last = new Promise((done) => (resolve = done));
			open += 1;
			await before;
			return () => {
				open -= 1;
				resolve();
			};
		}
	};
}

const MAX_PREPARED = 500;

/** Runs statements, each prepared once. */
function runner(connection: DatabaseSync): <R>(query: CompiledQuery) => QueryResult<R> {
	const prepare = (text: string) => {
		const statement = connection.prepare(text);
		statement.setReturnArrays(true);
		return { statement, columns: columnsOf(statement) };
	};
	const prepared = new Map<string, ReturnType<typeof prepare>>();
	return <R>({ sql, parameters }: CompiledQuery) => {
		let known = prepared.get(sql);
		if (!known) {
			known = prepare(sql);
			if (prepared.size >= MAX_PREPARED) prepared.clear();
			prepared.set(sql, known);
		}
		const { statement } = known;
		const values = parameters as SQLInputValue[];
		if (known.columns.length > 0) {
			const found = statement.all(...values) as unknown as unknown[][];
			// Another program (a newer version) can have added columns to what `*` stands for.
			if (found[0] && found[0].length !== known.columns.length) known.columns = columnsOf(statement);
			const { columns } = known;
			return { rows: found.map((row) => asObject(columns, row)) as R[] };
		}
		const { changes, lastInsertRowid } = statement.run(...values);
		return { rows: [], insertId: BigInt(lastInsertRowid), numAffectedRows: BigInt(changes) };
	};
}

const columnsOf = (statement: StatementSync): string[] => statement.columns().map(({ name }) => name);

/** The objects that node:sqlite makes by itself are dictionaries to V8: slow to make, to read and above all to copy. */
function asObject(columns: readonly string[], values: readonly unknown[]): Record<string, unknown> {
	const row: Record<string, unknown> = {};
	for (let index = 0; index < columns.length; index += 1) row[columns[index] ?? ''] = values[index];
	return row;
}
