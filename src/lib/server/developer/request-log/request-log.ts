import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Database } from '#lib/server/db/database.ts';
import type { Log } from '#lib/server/platform/log.ts';
import { loggedPath } from './path.ts';
import * as store from './store.ts';

/**
 * The last API calls of each account and the usage of its keys.
 *
 * Calls are collected in memory and written once a second. No call waits for this or fails because of it. If the
 * database is busy they stay in memory up to MAX_WAITING, then the oldest are dropped. A crash loses one second.
 */
export interface RequestLog {
	/** Records an answered call. Makes no query and never throws. */
	note(entry: NewEntry): void;
	/**
	 * Lists the account's calls, newest first, up to KEPT_CALLS. Calls of several processes within a second are in the
	 * order in which they were written.
	 *
	 * @param search `before`: id of the last entry of the previous page
	 */
	recent(accountId: number, search: RecentSearch): Promise<RequestLogEntry[]>;
	/** Counts the calls of the account's keys by key id; unused keys are missing. */
	usage(accountId: number): Promise<Map<number, KeyUsage>>;
	/** Writes the remaining calls within a short time limit. */
	stop(): Promise<void>;
}

export interface NewEntry {
	accountId: number;
	keyId: number;
	method: string;
	/** Path of the URL, percent-encoded, without the query. */
	pathname: string;
	status: number;
	durationMs: number;
	requestId: string;
}

export interface RequestLogEntry {
	id: number;
	at: number;
	method: string;
	/** Without the query; redacted segments are `…` (see path.ts). */
	path: string;
	status: number;
	durationMs: number;
	requestId: string;
	keyId: number;
}

export interface RecentSearch {
	before: number | null;
	limit: number;
	statusClass?: 2 | 4 | 5;
	keyId?: number;
}

/**
 * Calls per key, counted by clock minute. `minute` adds the share of the previous minute that lies within the last
 * 60 seconds, as if its calls were spread evenly.
 */
export interface KeyUsage {
	minute: number;
	day: number;
}

export const KEPT_CALLS = 1_000;

const FLUSH_EVERY_MS = 1_000;
/** Calls in memory, for all accounts. */
const MAX_WAITING = 10_000;
/** Rows per statement: SQLite blocks the process for a few milliseconds meanwhile. */
const BATCH = 500;
/** Calls of an account between two deletions of old ones, on average. */
const TRIM_EVERY = 100;
/** Short failures are normal on SQLite (another writer), so only longer ones are logged, once. */
const SAID_AFTER_FAILURES = 8;
const STOP_WITHIN_MS = 2_000;
const MAX_METHOD_LENGTH = 16;
const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;

const minuteOf = (ms: number) => Math.floor(ms / MINUTE_MS);

export function createRequestLog(database: Database, clock: Clock, log: Log): RequestLog {
	let waiting: store.NewLogRow[] = [];
	let counts = new Map<string, store.MinuteCalls>();
	let timer: NodeJS.Timeout | null = null;
	let writing: Promise<void> | null = null;
	let forgotMinute = 0;
	let lost = 0;
	let failures = 0;
	let stopped = false;

	function count(keyId: number, minute: number, calls: number): void {
		const name = `${keyId}:${minute}`;
		const found = counts.get(name);
		if (found) found.calls += calls;
		else if (counts.size < MAX_WAITING) counts.set(name, { keyId, minute, calls });
	}

	function later(): void {
		if (stopped) return;
		timer ??= setTimeout(() => {
			timer = null;
			void flush();
		}, FLUSH_EVERY_MS).unref();
	}

	/** Drops the oldest calls beyond `most`. */
	function drop(most: number): void {
		waiting = lastOfEach(waiting);
		if (waiting.length <= most) return;
		lost += waiting.length - most;
		waiting = waiting.slice(-most);
	}

	/** Writes the collected calls. Never throws. */
	async function flush(): Promise<void> {
		await writing;
		if (writing || (waiting.length === 0 && counts.size === 0)) return writing ?? undefined;
		writing = write().finally(() => (writing = null));
		return writing;
	}

	async function write(): Promise<void> {
		let rows = lastOfEach(waiting);
		let usage = [...counts.values()];
		waiting = [];
		counts = new Map();
		try {
			await writeUsage(usage);
			usage = [];
			while (rows.length > 0) {
				const batch = rows.slice(0, BATCH);
				await database.writeBehind((trx) => store.insert(trx, database.kind, batch));
				rows = rows.slice(BATCH);
				await nextTurn();
				await trim(batch);
			}
			if (failures >= SAID_AFTER_FAILURES) log.warn({ lost }, 'the request log is written again');
			else if (lost > 0) log.warn({ lost }, 'more calls than the request log could take');
			failures = 0;
			lost = 0;
		} catch (error) {
			failures += 1;
			if (failures === SAID_AFTER_FAILURES) {
				log.warn({ err: error }, 'the request log cannot be written; it waits in memory');
			}
			for (const { keyId, minute, calls } of usage) count(keyId, minute, calls);
			waiting = [...rows, ...waiting];
			drop(MAX_WAITING);
			later();
		}
	}

	async function writeUsage(usage: store.MinuteCalls[]): Promise<void> {
		if (usage.length === 0) return;
		const now = minuteOf(clock.now());
		await database.writeBehind(async (trx) => {
			await store.addUsage(trx, database.kind, usage);
			if (now !== forgotMinute) await store.forgetUsage(trx, now - DAY_MINUTES + 1);
		});
		forgotMinute = now;
	}

	/** Random, so that processes need not count each other's rows. */
	async function trim(written: store.NewLogRow[]): Promise<void> {
		const accounts = new Set(
			written.filter(() => Math.random() < 1 / TRIM_EVERY).map(({ account_id }) => account_id)
		);
		for (const accountId of accounts) {
			await database.writeBehind((trx) => store.trim(trx, accountId, KEPT_CALLS));
			await nextTurn();
		}
	}

	return {
		note({ accountId, keyId, method, pathname, status, durationMs, requestId }) {
			if (stopped) return;
			const now = clock.now();
			count(keyId, minuteOf(now), 1);
			waiting.push({
				account_id: accountId,
				key_id: keyId,
				at: now,
				method: method.slice(0, MAX_METHOD_LENGTH),
				path: loggedPath(pathname, status),
				status,
				duration_ms: Math.round(durationMs),
				request_id: requestId
			});
			// Dropping copies the array: do it rarely.
			if (waiting.length >= 2 * MAX_WAITING) drop(MAX_WAITING);
			later();
		},
		async recent(accountId, { before, limit, statusClass, keyId }) {
			// Include the calls that this process has not written yet.
			await flush();
			const rows = await store.recent(database.db, accountId, {
				keep: KEPT_CALLS,
				before,
				limit,
				status: statusClass ? { from: statusClass * 100, below: (statusClass + 1) * 100 } : null,
				keyId: keyId ?? null
			});
			return rows.map((row) => ({
				id: row.id,
				at: row.at,
				method: row.method,
				path: row.path,
				status: row.status,
				durationMs: row.duration_ms,
				requestId: row.request_id,
				keyId: row.key_id
			}));
		},
		async usage(accountId) {
			await flush();
			const now = clock.now();
			const minute = minuteOf(now);
			const stillWithin = 1 - (now % MINUTE_MS) / MINUTE_MS;
			const rows = await store.usageSince(database.db, accountId, {
				now: minute,
				dayStart: minute - DAY_MINUTES + 1
			});
			return new Map(
				rows.map((row) => [
					row.key_id,
					{ minute: Math.round(row.current + row.previous * stillWithin), day: row.day }
				])
			);
		},
		async stop() {
			if (timer) clearTimeout(timer);
			timer = null;
			stopped = true;
			await Promise.race([flush(), sleep(STOP_WITHIN_MS, undefined, { ref: false })]);
		}
	};
}

/** Keeps the newest KEPT_CALLS rows of each account. */
function lastOfEach(rows: store.NewLogRow[]): store.NewLogRow[] {
	if (rows.length <= KEPT_CALLS) return rows;
	const kept = new Map<number, number>();
	return rows
		.toReversed()
		.filter(({ account_id }) => {
			const calls = (kept.get(account_id) ?? 0) + 1;
			kept.set(account_id, calls);
			return calls <= KEPT_CALLS;
		})
		.toReversed();
}
