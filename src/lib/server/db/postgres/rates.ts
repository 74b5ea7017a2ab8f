import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql, type Kysely } from 'kysely';
import pg from 'pg';
import type { RateDecision, RateLimit, SharedRates } from '../database.ts';
import type { Schema } from '../schema.ts';

interface RateRequest {
	limits: readonly RateLimit[];
	windowMs: number;
}

type Decisions = RateDecision[];

interface Waiting {
	request: RateRequest;
	resolve(decisions: Decisions): void;
	reject(error: unknown): void;
}

/** query_canceled, https://www.postgresql.org/docs/15/errcodes-appendix.html */
const STATEMENT_TIMED_OUT = '57014';
/** Requests whose limits one call takes. */
const MAX_BATCH = 100;
/** A lost connection answers nothing. Longer than the time that PostgreSQL gives a statement. */
const MAX_CALL_MS = 16_000;

/**
 * Calls the functions of migrations 0044 and 0062, which go by the database's clock. One call at a time: requests that
 * come meanwhile share the next, so that those of one key do not wait for each other's lock with a connection each.
 */
export function sharedRates(db: Kysely<Schema>): SharedRates {
	const queue: Waiting[] = [];
	let isRunning = false;

	async function takeAll(): Promise<void> {
		isRunning = true;
		while (queue.length > 0) {
			const batch = queue.splice(0, MAX_BATCH);
			const requests = batch.map(({ request }) => request);
			try {
				const decisions = await withinTime(takeBatch(db, requests));
				for (const [index, { resolve }] of batch.entries()) resolve(decisions[index] ?? []);
			} catch (error) {
				// If the database is away, those that came meanwhile do not wait for another failure: a limit must not stop a
				// purchase.
				const failed = isAway(error) ? [...batch, ...queue.splice(0)] : batch;
				for (const { reject } of failed) reject(error);
			}
		}
		isRunning = false;
	}

	return {
		async take(limits, windowMs) {
			const [first, second] = await new Promise<Decisions>((resolve, reject) => {
				queue.push({ request: { limits, windowMs }, resolve, reject });
				if (!isRunning) void takeAll();
			});
			if (!first) throw new Error('take_rates answered nothing');
			return second ? [first, second] : [first];
		},
		async forgetIdle(idleMs) {
			const idle = sql`asked_at < clock_timestamp() - make_interval(secs => ${idleMs / 1000})`;
			await withinTime(sql`delete from rate_heads where ${idle}`.execute(db));
		}
	};
}

/** An error that PostgreSQL itself answers at once, such as a deadlock, is of one call only. */
const isAway = (error: unknown) => !(error instanceof pg.DatabaseError) || error.code === STATEMENT_TIMED_OUT;

async function withinTime<T>(call: Promise<T>): Promise<T> {
	const over = new AbortController();
	const timeout = sleep(MAX_CALL_MS, null, { ref: false, signal: over.signal }).then(() => {
		throw new Error(`No answer within ${MAX_CALL_MS} ms`);
	});
	try {
		return await Promise.race([call, timeout]);
	} finally {
		over.abort();
	}
}

/** Text that PostgreSQL takes: what somebody typed must not fail the requests of others. */
const stored = (subject: string) =>
	/^[ -~]{1,200}$/.test(subject) ? subject : createHash('sha256').update(subject).digest('hex');

/** Returns the decisions of each request, up to its first refusal. */
async function takeBatch(db: Kysely<Schema>, requests: RateRequest[]): Promise<Decisions[]> {
	const limits = requests.flatMap(({ limits, windowMs }, request) =>
		limits.map((limit) => ({ ...limit, request, windowMs }))
	);
	const { rows } = await sql<RateDecision | { admitted: null }>`
		select admitted, remaining, reset_ms as "resetMs" from take_rates(
			${limits.map(({ request }) => request)}::integer[],
			${limits.map(({ subject }) => stored(subject))}::text[],
			${limits.map(({ limit }) => limit)}::integer[],
			${limits.map(({ windowMs }) => windowMs)}::float8[])`.execute(db);
	const decisions: Decisions[] = requests.map(() => []);
	for (const [index, row] of rows.entries()) {
		if (row.admitted !== null) decisions[limits[index]?.request ?? -1]?.push(row);
	}
	return decisions;
}
