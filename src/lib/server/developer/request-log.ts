import type { Base } from '../base.ts';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Database, Queries } from '../db/database.ts';
import { redact } from '../platform/log.ts';
import { sql } from 'kysely';
import { withoutNulls } from '../db/queries.ts';
import type { Row } from '../db/schema.ts';

/**
 * Records the last API calls of each account.
 *
 * Calls stay in memory and are written once a second. No call waits for this or fails because of it. While the
 * database is busy or away, memory holds at most MAX_WAITING calls and drops the oldest. A crash loses one second.
 */

export interface NewEntry {
	accountId: number;
	keyId: number;
	method: string;
	/** Path of the URL, percent-encoded, without the query. */
	pathname: string;
	status: number;
	/** Code of the error; null for a success. */
	problem: string | null;
	durationMs: number;
	requestId: string;
}

type LogBase = Pick<Base, 'database' | 'clock' | 'log'>;

type LogRow = Row<'request_log'>;
type NewLogRow = Omit<LogRow, 'id'>;

export interface RequestLog extends LogBase {
	/** Unwritten calls, oldest first. */
	waiting: NewLogRow[];
	writing: Promise<void> | null;
	timer: NodeJS.Timeout;
	failures: number;
}

export const KEPT_CALLS = 1_000;

const FLUSH_EVERY_MS = 1_000;
/** Calls in memory, for all accounts. */
const MAX_WAITING = 10_000;
/** Rows per statement: on SQLite each one blocks the process, and each number of rows is kept as a prepared statement. */
const BATCH = 100;
/** Average number of an account's calls between two deletions of old ones. */
const TRIM_EVERY = 100;
/** Short failures are normal on SQLite (another writer), so longer ones are logged, once. */
const LOG_AFTER_FAILURES = 8;
const STOP_WITHIN_MS = 2_000;
const MAX_METHOD_LENGTH = 16;
const MAX_PATH_LENGTH = 200;

export function startRequestLog(base: LogBase): RequestLog {
	const context: RequestLog = {
		...base,
		waiting: [],
		writing: null,
		timer: setInterval(() => void flush(context), FLUSH_EVERY_MS).unref(),
		failures: 0
	};
	return context;
}

/** Writes what waits, unless that takes too long. */
export async function stopRequestLog(context: RequestLog): Promise<void> {
	clearInterval(context.timer);
	await Promise.race([flush(context), sleep(STOP_WITHIN_MS, undefined, { ref: false })]);
}

/** Makes no query and never throws. */
export function noteCall(context: RequestLog, entry: NewEntry): void {
	const now = context.clock.now();
	context.waiting.push({
		account_id: entry.accountId,
		key_id: entry.keyId,
		at: now,
		method: entry.method.slice(0, MAX_METHOD_LENGTH),
		path: redact(entry.pathname.replaceAll(/%[0-9a-f]{2}/gi, ' ')).slice(0, MAX_PATH_LENGTH),
		status: entry.status,
		error_code: entry.problem,
		duration_ms: Math.round(entry.durationMs),
		request_id: entry.requestId
	});
	// Dropping copies the array, so do it rarely.
	if (context.waiting.length >= 2 * MAX_WAITING) dropOldest(context);
}

function dropOldest(context: RequestLog): void {
	context.waiting = context.waiting.slice(-MAX_WAITING);
}

/** Writes all calls noted so far. Never throws. */
async function flush(context: RequestLog): Promise<void> {
	await context.writing;
	if (context.waiting.length > 0) context.writing ??= write(context).finally(() => (context.writing = null));
	await context.writing;
}

async function write(context: RequestLog): Promise<void> {
	const { database, log } = context;
	let rows = context.waiting;
	context.waiting = [];
	try {
		while (rows.length > 0) {
			const batch = rows.slice(0, BATCH);
			await database.writeBehind(async (trx) => {
				await trx.insertInto('request_log').values(batch).execute();
			});
			rows = rows.slice(BATCH);
			await nextTurn();
			await trim(database, batch);
		}
		if (context.failures >= LOG_AFTER_FAILURES) log.warn('the request log is written again');
		context.failures = 0;
	} catch (error) {
		context.failures += 1;
		if (context.failures === LOG_AFTER_FAILURES) {
			log.warn({ err: error }, 'the request log cannot be written; it waits in memory');
		}
		context.waiting.unshift(...rows);
		dropOldest(context);
	}
}

/** Trims at random, so that processes need not count each other's rows. */
async function trim(database: Database, written: NewLogRow[]): Promise<void> {
	const chosen = written.filter(() => Math.random() < 1 / TRIM_EVERY);
	for (const accountId of new Set(chosen.map(({ account_id }) => account_id))) {
		await database.writeBehind((trx) => trimLog(trx, accountId, KEPT_CALLS));
		await nextTurn();
	}
}

interface RecentSearch {
	/** Id of the last entry of the previous page. */
	before: number | null;
	limit: number;
	statusClass?: 2 | 4 | 5 | null;
	keyId?: number | null;
}

/**
 * Searches the account's newest KEPT_CALLS calls, newest first. Calls of several processes within a second are in writing
 * order. Redacted segments of a path are `…`.
 */
export async function listRecentCalls(
	context: RequestLog,
	accountId: number,
	{ before, limit, statusClass, keyId }: RecentSearch
) {
	// Includes calls that this process has not written yet.
	await flush(context);
	const { db } = context.database;
	const kept = db
		.selectFrom('request_log')
		.select(['id', 'at', 'method', 'path', 'status', 'error_code as problem'])
		.select(['duration_ms as durationMs', 'request_id as requestId', 'key_id as keyId'])
		.where('account_id', '=', accountId)
		.orderBy('id', 'desc')
		.limit(KEPT_CALLS);
	return db
		.selectFrom(kept.as('kept'))
		.selectAll()
		.where('id', '<', before ?? Number.MAX_SAFE_INTEGER)
		.$if(statusClass != null, (query) => query.where(sql`status / 100`, '=', statusClass ?? null))
		.where(({ and }) => and(withoutNulls({ keyId })))
		.orderBy('id', 'desc')
		.limit(limit)
		.execute();
}

async function trimLog(queries: Queries, accountId: number, keep: number): Promise<void> {
	const oldestKept = queries
		.selectFrom('request_log')
		.select('id')
		.where('account_id', '=', accountId)
		.orderBy('id', 'desc')
		.offset(keep - 1)
		.limit(1);
	await queries
		.deleteFrom('request_log')
		.where('account_id', '=', accountId)
		.where('id', '<', oldestKept)
		.execute();
}
