import { sql } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import type { FencedDatabase } from '#lib/server/jobs/jobs.ts';
import { findById } from '#lib/server/db/queries.ts';
import { nextAttemptAt } from './schedule.ts';
import * as store from './store.ts';

export interface Attempt {
	startedAt: number;
	endedAt: number;
	durationMs: number;
	statusCode: number | null;
	retryAfter: string | null;
	failure: string | null;
	response: string | null;
}

/** Precision of `last_success_at`: every event reads the endpoint's row, so it is written rarely. */
const SUCCESS_NOTED_MS = 60_000;
const GONE = 410;
const TEST_TYPE = 'webhook.test';

/**
 * Records the endpoint's health, the log and the delivery's new state, at the database's default isolation level.
 * A serializable transaction would make purchases, which read the endpoints, fail and run again.
 * @returns when to try again, or null
 */
export async function finishAttempt(
	database: FencedDatabase,
	delivery: store.DeliveryRow,
	attempt: Attempt
): Promise<number | null> {
	const { statusCode, retryAfter, endedAt } = attempt;
	const tries = delivery.tries + 1;
	const succeeded = isSuccess(attempt);
	// A replay during the attempt has moved the next attempt, which stays due.
	const unlessReplayed = <T>(column: string, value: T) =>
		sql<T>`case when next_attempt_at <> ${delivery.next_attempt_at} then ${sql.ref(column)} else ${value} end`;
	return database.write(async (trx) => {
		// All transactions that change both write the endpoint first, which prevents deadlocks.
		await noteHealth(trx, delivery, attempt);
		const isActive = (await store.endpointById(trx, delivery.endpoint_id))?.status === 'active';
		// A test is not retried: its result is for the person on the page.
		const isRetried = isActive && !succeeded && delivery.type !== TEST_TYPE;
		const nextAt = isRetried
			? nextAttemptAt({ tries, now: endedAt, statusCode, retryAfter }, Math.random())
			: null;
		const status = succeeded ? 'delivered' : nextAt === null ? 'failed' : 'pending';
		await trx
			.updateTable('webhook_deliveries')
			.set({
				status: unlessReplayed('status', status),
				next_attempt_at: unlessReplayed('next_attempt_at', nextAt),
				tries: unlessReplayed('tries', tries),
				attempts: sql`attempts + 1`,
				last_status_code: statusCode,
				last_failure: attempt.failure,
				last_attempt_at: attempt.startedAt,
				updated_at: endedAt
			})
			.where('id', '=', delivery.id)
			.execute();
		await insertAttempt(trx, delivery.id, attempt);
		// As stored: a replay may have decided when to try again.
		return (await findById(trx, 'webhook_deliveries', delivery.id))?.next_attempt_at ?? null;
	});
}

/** Inserts nothing if the delivery was deleted while it was sent. */
async function insertAttempt(queries: Queries, deliveryId: number, attempt: Attempt): Promise<void> {
	await sql`insert into webhook_attempts
			(delivery_id, started_at, duration_ms, status_code, failure, response)
		select id, cast(${attempt.startedAt} as bigint), cast(${attempt.durationMs} as bigint),
			cast(${attempt.statusCode} as bigint), cast(${attempt.failure} as text),
			cast(${attempt.response} as text)
		from webhook_deliveries where id = ${deliveryId}`.execute(queries);
}

const isSuccess = ({ statusCode }: Attempt) => statusCode !== null && statusCode >= 200 && statusCode < 300;

async function noteHealth(queries: Queries, delivery: store.DeliveryRow, attempt: Attempt): Promise<void> {
	const id = delivery.endpoint_id;
	const update = queries.updateTable('webhook_endpoints').where('id', '=', id);
	if (attempt.statusCode === GONE) {
		const disabled = await update
			.set({ status: 'disabled', disabled_reason: 'gone', notice: 'disabled', updated_at: attempt.endedAt })
			.where('status', '=', 'active')
			.executeTakeFirst();
		if (disabled.numUpdatedRows > 0n)
			await store.failPending(queries).where('endpoint_id', '=', id).execute();
	} else if (isSuccess(attempt)) {
		await update
			.set({
				last_success_at: attempt.endedAt,
				failing_since: null,
				failing_noticed: 0,
				notice: sql`case when notice = 'failing' then null else notice end`
			})
			.where((where) =>
				where.or([
					where('failing_since', 'is not', null),
					where('last_success_at', 'is', null),
					where('last_success_at', '<', attempt.endedAt - SUCCESS_NOTED_MS)
				])
			)
			.execute();
	} else if (delivery.type !== TEST_TYPE) {
		// Of concurrent failures the earliest counts, whichever ends first.
		await update
			.set({ failing_since: attempt.startedAt })
			.where((where) =>
				where.or([where('failing_since', 'is', null), where('failing_since', '>', attempt.startedAt)])
			)
			.execute();
	}
}
