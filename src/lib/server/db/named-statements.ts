import { createHash } from 'node:crypto';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import pg from 'pg';

/**
 * Statements with names, which PostgreSQL parses once for each connection and plans a few times only: without them that
 * is half of its work for a read.
 *
 * A migration that adds a column makes each statement that reads `*` fail under its name until the connection ends. Then
 * all statements get new names, and the failed one or its transaction runs again. If a connection forgets statements, as
 * with PgBouncer older than 1.21, they run again without names from then on.
 */

/** Each has a plan in each connection. Texts that lists of values make different must not fill PostgreSQL's memory. */
const MAX_NAMED = 500;
const FEATURE_NOT_SUPPORTED = '0A000';
/** invalid_sql_statement_name and duplicate_prepared_statement */
const FORGOTTEN = new Set(['26000', '42P05']);

export const codeOf = (error: unknown) => (error instanceof pg.DatabaseError ? error.code : undefined);

const isForgotten = (error: unknown) => FORGOTTEN.has(codeOf(error) ?? '');

/** "cached plan must not change result type": the function in PostgreSQL names it in every language. */
const isStale = (error: unknown) =>
	error instanceof pg.DatabaseError &&
	error.code === FEATURE_NOT_SUPPORTED &&
	error.routine === 'RevalidateCachedQuery';

/** Runs a transaction again if one of its statements failed by its name, and so changed nothing. */
export async function repeatUnnamed<T>(run: () => Promise<T>): Promise<T> {
	try {
		return await run();
	} catch (error) {
		if (!isStale(error) && !isForgotten(error)) throw error;
		return run();
	}
}

const SERIALIZATION_FAILURE = '40001';
const INTERNAL_ERROR = 'XX000';

/** Returns the pool for Kysely, which has no option for names. */
export function nameStatements(pool: pg.Pool, areNamed = false): PostgresPool {
	const clients = new WeakMap<pg.PoolClient, PostgresPoolClient>();
	let names = new Map<string, string>();
	let generation = 1;

	/** A connection that confuses two processes then finds another statement's name never. */
	function nameOf(text: string): string | undefined {
		let name = names.get(text);
		if (name === undefined && areNamed && names.size < MAX_NAMED) {
			name = `${generation}-${createHash('sha256').update(text).digest('base64url')}`;
			names.set(text, name);
		}
		return name;
	}

	/** @returns true if the statement can run again */
	function renameAfter(error: unknown, text: string, name: string | undefined): boolean {
		if (isForgotten(error)) areNamed = false;
		else if (!isStale(error)) return false;
		// Others, sent before, fail too.
		if (names.get(text) === name) {
			names = new Map();
			generation += 1;
		}
		return true;
	}

	function createClient(client: pg.PoolClient) {
		let notice: string | undefined;
		client.on('notice', ({ code }) => (notice = code));

		async function query(text: string, values: unknown[]) {
			// Without values it is a command, or seldom.
			if (values.length === 0) return client.query(text);
			const name = nameOf(text);
			const isAlone = client.getTransactionStatus() === 'I';
			try {
				return await client.query({ name, text, values });
			} catch (error) {
				if (!renameAfter(error, text, name) || !isAlone) throw error;
				return client.query({ name: nameOf(text), text, values });
			}
		}

		return {
			async query(text: string, values: unknown[]) {
				notice = undefined;
				try {
					return await query(text, values);
				} catch (error) {
					// Citus names a serialization failure at a commit only in the notice. Without it, as after a lost connection,
					// the commit may have happened.
					const isSerialization = codeOf(error) === INTERNAL_ERROR && notice === SERIALIZATION_FAILURE;
					throw isSerialization ? Object.assign(error as Error, { code: notice }) : error;
				}
			},
			release: (isBroken?: boolean) => client.release(isBroken)
		};
	}

	return {
		options: pool.options,
		async connect() {
			const client = await pool.connect();
			let named = clients.get(client);
			if (!named) clients.set(client, (named = createClient(client) as unknown as PostgresPoolClient));
			return named;
		},
		end: () => pool.end()
	};
}
