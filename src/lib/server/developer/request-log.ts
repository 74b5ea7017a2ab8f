import { MINUTE_MS } from '#lib/domain/time/time.ts';
import type { Base } from '../base.ts';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Database, Queries } from '../db/database.ts';
import { redact } from '../platform/redact.ts';
import { type Selectable, sql } from 'kysely';
import { withoutNulls } from '../db/first.ts';
import type { KeyUsageTable, RequestLogTable } from '../db/schema.ts';

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

type LogRow = Selectable<RequestLogTable>;
type NewLogRow = Omit<LogRow, 'id'>;
type MinuteCalls = Selectable<KeyUsageTable>;

export interface RequestLog extends LogBase {
	/** Unwritten calls, oldest first. */
	waiting: NewLogRow[];
	writing: Promise<void> | null;
	timer: NodeJS.Timeout;
	trimmedMinute: number;
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
const DAY_MINUTES = 24 * 60;

const toMinute = (ms: number) => Math.floor(ms / MINUTE_MS);

/**
 * Records the last API calls of each account and the usage of its keys.
 *
 * Calls stay in memory and are written once a second. No call waits for this or fails because of it. While the
 * database is busy or away, memory holds at most MAX_WAITING calls and drops the oldest, which are then missing from the
 * usage too. A crash loses one second.
 */
export function openRequestLog(base: LogBase): RequestLog {
	const context: RequestLog = {
		...base,
		waiting: [],
		writing: null,
		timer: setInterval(() => void flush(context), FLUSH_EVERY_MS).unref(),
		trimmedMinute: 0,
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
	const now = toMinute(context.clock.now());
	try {
		while (rows.length > 0) {
			const batch = rows.slice(0, BATCH);
			await database.writeBehind(async (trx) => {
				await trx.insertInto('request_log').values(batch).execute();
				await addUsage(trx, countByMinute(batch));
				if (now !== context.trimmedMinute) await deleteUsage(trx, now - DAY_MINUTES + 1);
			});
			context.trimmedMinute = now;
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

function countByMinute(rows: readonly NewLogRow[]): MinuteCalls[] {
	const counts = new Map<string, MinuteCalls>();
	for (const { key_id, at } of rows) {
		const minute = toMinute(at);
		const name = `${key_id}:${minute}`;
		counts.set(name, { key_id, minute, calls: (counts.get(name)?.calls ?? 0) + 1 });
	}
	return [...counts.values()];
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

/** Counts the calls of the last day by key id; unused keys are missing. */
export async function countCallsByKey(context: RequestLog, accountId: number): Promise<Map<number, number>> {
	await flush(context);
	const since = toMinute(context.clock.now()) - DAY_MINUTES + 1;
	const rows = await context.database.db
		.selectFrom('key_usage')
		.innerJoin('api_keys', 'api_keys.id', 'key_usage.key_id')
		.select(({ fn }) => ['key_usage.key_id', fn.sum<number>('key_usage.calls').as('calls')])
		.where('api_keys.account_id', '=', accountId)
		.where('key_usage.minute', '>=', since)
		.groupBy('key_usage.key_id')
		.execute();
	return new Map(rows.map(({ key_id, calls }) => [key_id, calls]));
}

/** Adds in the order of the key ids, so that two processes cannot deadlock. */
const addUsage = (queries: Queries, counts: readonly MinuteCalls[]) =>
	queries
		.insertInto('key_usage')
		.values(counts.toSorted((a, b) => a.key_id - b.key_id || a.minute - b.minute))
		.onConflict((conflict) =>
			conflict
				.columns(['key_id', 'minute'])
				.doUpdateSet(({ ref, eb }) => ({ calls: eb(ref('key_usage.calls'), '+', ref('excluded.calls')) }))
		)
		.execute();

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

const deleteUsage = (queries: Queries, beforeMinute: number) =>
	queries.deleteFrom('key_usage').where('minute', '<', beforeMinute).execute();
