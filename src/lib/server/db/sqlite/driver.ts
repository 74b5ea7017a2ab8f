import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import {
	CompiledQuery,
	SqliteAdapter,
	SqliteDialect,
	SqliteDriver,
	type DatabaseConnection,
	type SqliteDatabase,
	type SqliteStatement
} from 'kysely';
import { createSemaphore } from '../database.ts';

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
