import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { createSemaphore, withTasks, type Database, type DatabaseOptions } from '../database.ts';
import { nearestRouters } from './nearest.ts';
import { sharedRates } from './rates.ts';
import type { Schema } from '../schema.ts';
import { createWriteHealth } from '../write-health.ts';

const STATEMENT_TIMEOUT_MS = 15_000;
/** A machine without power or a suspended process must not hold locks for longer than leases (jobs/jobs.ts). */
const IDLE_TRANSACTION_TIMEOUT_MS = 8_000;
const CONNECT_TIMEOUT_MS = 10_000;
/**
 * Purchases write to the same pages of indexes, so that more of their transactions at a time mostly end each other;
 * PostgreSQL advises to limit them (documentation of version 15, 13.2.3). While one waits for a row, another can run.
 */
const MAX_LIMITED = 2;
/** Conflicting transactions are retried for this long. */
const RETRY_MS = 20_000;
/** Pauses stay short for 2 s, which is FreeRADIUS's timeout, then grow so that retries do not collide again. */
const QUICK_MS = 2_000;
const QUICK_PAUSE_MS = 200;
const MAX_PAUSE_MS = 1_000;

/** serialization_failure and deadlock_detected, https://www.postgresql.org/docs/15/errcodes-appendix.html */
const RETRIED = new Set(['40001', '40P01']);
const UNIQUE_VIOLATION = '23505';
/** disk_full, io_error and read_only_sql_transaction */
const NOT_STORED = new Set(['53100', '58030', '25006']);

const INT8_OID = 20;
const NUMERIC_OID = 1700;

/** Parses bigint and count(), which arrive as text. All our integers are below 2^53. */
function parseInteger(text: string): number {
	const value = Number(text);
	if (!Number.isSafeInteger(value)) throw new Error(`Integer out of range: ${text}`);
	return value;
}

const codeOf = (error: unknown) => (error instanceof pg.DatabaseError ? error.code : undefined);

/** Opens a pool of PostgreSQL connections (version 15 or newer). */
export function openPostgres(url: string, options: DatabaseOptions): Database {
	const { poolSize, onError } = options;
	const pool = openPool(url, poolSize);
	const health = createWriteHealth((error) => NOT_STORED.has(codeOf(error) ?? ''), {
		onError: (error) => onError?.(codeOf(error) ?? 'connection')
	});
	const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }), log: health.log });
	const acquire = createSemaphore(MAX_LIMITED);
	return {
		kind: 'postgres',
		db,
		unsynced: db,
		async transact(work, { limitConcurrency = false } = {}) {
			const release = limitConcurrency ? await acquire() : null;
			try {
				return await retrying(() => withTasks(db.transaction().setIsolationLevel('serializable'), work));
			} finally {
				release?.();
			}
		},
		writeBehind: (work) =>
			db.transaction().execute(async (trx) => {
				await sql`set local synchronous_commit = off`.execute(trx);
				await work(trx);
			}),
		async lock(trx, lock) {
			await sql`select pg_advisory_xact_lock(${lock})`.execute(trx);
		},
		lockClaimed: sql`for update skip locked`,
		nearestRouters: (search) => nearestRouters(db, search),
		hasWords: (
			words
		) => sql`to_tsvector('simple', without_accents(name || ' ' || coalesce(address, '') || ' ' || ssid))
			@@ to_tsquery('simple', ${sql.join(
				words.map((word) => sql`without_accents(${word}) || ':*'`),
				sql` || ' & ' || `
			)})`,
		rates: sharedRates(db),
		isUniqueViolation: (error) => codeOf(error) === UNIQUE_VIOLATION,
		connections: () => ({
			busy: pool.totalCount - pool.idleCount,
			idle: pool.idleCount,
			waiting: pool.waitingCount
		}),
		ping: () => health.check(db),
		async close() {
			await db.destroy();
		}
	};
}

function openPool(url: string, max: number): pg.Pool {
	const types = new pg.TypeOverrides();
	types.setTypeParser(INT8_OID, parseInteger);
	types.setTypeParser(NUMERIC_OID, Number);
	const pool = new pg.Pool({
		...{ connectionString: url, max, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, types },
		statement_timeout: STATEMENT_TIMEOUT_MS,
		idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
		application_name: 'airtill'
	});
	// The pool replaces a broken connection, and its query fails. Without these listeners (for idle connections, and
	// for those in use) the event would end the process.
	pool.on('error', () => {});
	pool.on('connect', (client) => client.on('error', () => {}));
	return pool;
}

async function retrying<T>(run: () => Promise<T>): Promise<T> {
	const startedAt = performance.now();
	for (let attempt = 1; ; attempt += 1) {
		try {
			return await run();
		} catch (error) {
			const elapsedMs = performance.now() - startedAt;
			if (!RETRIED.has(codeOf(error) ?? '') || elapsedMs > RETRY_MS) throw error;
			const longestMs = elapsedMs < QUICK_MS ? QUICK_PAUSE_MS : MAX_PAUSE_MS;
			await sleep(Math.random() * Math.min(longestMs, 5 * 2 ** attempt));
		}
	}
}
