import { sql, type Kysely } from 'kysely';
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

/** Requests whose limits one call takes. */
const MAX_BATCH = 100;

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
			try {
				const decisions = await takeBatch(
					db,
					batch.map(({ request }) => request)
				);
				for (const [index, { resolve }] of batch.entries()) resolve(decisions[index] ?? []);
			} catch (error) {
				for (const { reject } of batch) reject(error);
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
			await sql`delete from rate_heads
				where asked_at < clock_timestamp() - make_interval(secs => ${idleMs / 1000})`.execute(db);
		}
	};
}

/** Returns the decisions of each request, up to its first refusal. */
async function takeBatch(db: Kysely<Schema>, requests: RateRequest[]): Promise<Decisions[]> {
	const limits = requests.flatMap(({ limits, windowMs }, request) =>
		limits.map((limit) => ({ ...limit, request, windowMs }))
	);
	const { rows } = await sql<RateDecision | { admitted: null }>`
		select admitted, remaining, reset_ms as "resetMs" from take_rates(
			${limits.map(({ request }) => request)}::integer[],
			${limits.map(({ subject }) => subject)}::text[],
			${limits.map(({ limit }) => limit)}::integer[],
			${limits.map(({ windowMs }) => windowMs)}::float8[])`.execute(db);
	const decisions: Decisions[] = requests.map(() => []);
	for (const [index, row] of rows.entries()) {
		if (row.admitted !== null) decisions[limits[index]?.request ?? -1]?.push(row);
	}
	return decisions;
}
