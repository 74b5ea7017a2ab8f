import { randomUUID } from 'node:crypto';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Database } from '#lib/server/db/database.ts';
import type { Log } from '#lib/server/platform/log.ts';
import type { Secrets } from '#lib/server/platform/secrets.ts';
import { createWorker } from '#lib/server/jobs/worker.ts';
import { bodyContext } from './fan-out.ts';
import * as queue from './queue.ts';
import { redactResponse } from './redact.ts';
import { nextAttemptAt } from './schedule.ts';
import { signatures } from './signature.ts';
import type { DeliveryRow, EndpointRow } from './store.ts';
import { TOTAL_TIMEOUT_MS, type Outcome, type Transport } from './transport.ts';

/**
 * Sends what is due, beside the jobs and not among them: a receiver that hangs must not hold up a payment. The queue
 * sees to it that it does not hold up another receiver either. At least once: a process that dies after sending and
 * before it has written so sends again, with the same id.
 */
export interface Delivery {
	start(): void;
	/** Takes no new work, gives up what is under way (it is sent again later) and waits for it. */
	stop(): Promise<void>;
}

export interface DeliveryDependencies {
	database: Database;
	clock: Clock;
	log: Log;
	secrets: Secrets;
	transport: Transport;
	/** What is done now and then; it has its own times. */
	sweep: () => Promise<void>;
	/** From 0 to below 1. */
	random?: () => number;
}

/** Attempts at once in this process. Most of them only wait. */
const MAX_RUNNING = 200;
/** Of them, for accounts that have nothing under way: nobody's hanging receivers fill the places of all. */
const RESERVED = 100;
const MAX_SLEEP_MS = 250;
const LEASE_MS = 2 * TOTAL_TIMEOUT_MS;
/** A clock that goes back further than this was set. */
const CLOCK_STEP_MS = 5_000;
const USER_AGENT = 'Airtill-Webhooks/1.0';
const TEST_TYPE = 'webhook.test';

/** What a secret is sealed for. */
export const secretContext = (endpoint: Pick<EndpointRow, 'account_id' | 'address'>) =>
	`webhook:${endpoint.account_id}:${endpoint.address}`;

/** Headers of an attempt, but for the signature. */
export const headersOf = (eventId: string, timestamp: number) => ({
	'content-type': 'application/json',
	'user-agent': USER_AGENT,
	'webhook-id': eventId,
	'webhook-timestamp': String(timestamp)
});

export function createDelivery(dependencies: DeliveryDependencies): Delivery {
	const { database, clock, log, secrets, transport, sweep, random = Math.random } = dependencies;
	const running = new Map<Promise<void>, AbortController>();
	let sweeping: Promise<void> | null = null;
	/** Latest time that the clock has shown. */
	let newest = -Infinity;

	const worker = createWorker(tick, {
		maxSleepMs: MAX_SLEEP_MS,
		onError: (error) => log.error({ err: error }, 'webhooks cannot be read; trying again')
	});

	async function tick(): Promise<number> {
		sweeping ??= sweep()
			.catch((error: unknown) => log.error({ err: error }, 'webhooks not swept'))
			.finally(() => (sweeping = null));
		const limit = MAX_RUNNING - running.size;
		if (limit <= 0) return MAX_SLEEP_MS;
		const now = clock.now();
		const leaseUntil = now + LEASE_MS;
		if (now < newest - CLOCK_STEP_MS) {
			await queue.moveBack(database.db, { byMs: newest - now, now, leaseUntil });
			newest = now;
		}
		newest = Math.max(newest, now);
		const { claimed, nextAt } = await queue.claim(database, {
			owner: randomUUID(),
			now,
			leaseUntil,
			limit,
			reserved: RESERVED
		});
		for (const delivery of claimed) launch(delivery);
		if (claimed.length > 0) return 0;
		return nextAt === null ? MAX_SLEEP_MS : Math.min(MAX_SLEEP_MS, Math.max(1, nextAt - clock.now()));
	}

	function launch(delivery: DeliveryRow): void {
		const abort = new AbortController();
		const task = attempt(delivery, abort.signal)
			.catch(async (error: unknown) => {
				// A fault of ours, or the database is gone: the lease runs out and the delivery is taken again.
				log.error({ err: error, delivery: delivery.id }, 'webhook not delivered; it will be tried again');
			})
			.finally(() => {
				running.delete(task);
				worker.nudge();
			});
		running.set(task, abort);
	}

	async function attempt(delivery: DeliveryRow, signal: AbortSignal): Promise<void> {
		const endpoint = await queue.endpoint(database.db, delivery.endpoint_id);
		if (endpoint?.status !== 'active') return queue.release(database.db, delivery);
		const startedAt = clock.now();
		const timestamp = Math.floor(startedAt / 1000);
		const body = secrets.decrypt(delivery.body_sealed, bodyContext(endpoint.id, delivery.event_id));
		const signed = { id: delivery.event_id, timestamp, body };
		const signing = secretsOf(endpoint, startedAt);
		const headers = {
			...headersOf(delivery.event_id, timestamp),
			'webhook-signature': signatures(signed, signing)
		};
		const started = performance.now();
		const outcome = await transport.send({ url: endpoint.address, headers, body }, signal);
		if ('failure' in outcome && outcome.failure === 'interrupted') {
			return queue.release(database.db, delivery);
		}
		const durationMs = Math.round(performance.now() - started);
		await queue.finish(database, delivery, report(delivery, outcome, { startedAt, durationMs, signing }));
	}

	/** The one that signs, and the one before it while it still counts. */
	function secretsOf(endpoint: EndpointRow, now: number): string[] {
		const context = secretContext(endpoint);
		const { secret_sealed, old_secret_sealed: old, old_secret_until: until } = endpoint;
		const hasOld = old !== null && until !== null && until > now;
		return [secret_sealed, ...(hasOld ? [old] : [])].map((sealed) => secrets.decrypt(sealed, context));
	}

	function report(
		delivery: DeliveryRow,
		outcome: Outcome,
		{ signing, ...time }: { startedAt: number; durationMs: number; signing: readonly string[] }
	): queue.Attempt {
		const endedAt = clock.now();
		const answered = 'statusCode' in outcome ? outcome : null;
		const statusCode = answered?.statusCode ?? null;
		const succeeded = statusCode !== null && statusCode >= 200 && statusCode < 300;
		const isTest = delivery.type === TEST_TYPE;
		const failed = {
			tries: delivery.tries + 1,
			now: endedAt,
			statusCode,
			retryAfter: answered?.retryAfter ?? null
		};
		return {
			...time,
			endedAt,
			statusCode,
			failure: 'failure' in outcome ? outcome.failure : null,
			response: answered && redactResponse(answered.response, signing),
			succeeded,
			// A test is for whoever is looking now; nobody waits for it later.
			nextAt: succeeded || isTest ? null : nextAttemptAt(failed, random()),
			counts: !isTest
		};
	}

	return {
		start: worker.start,
		async stop() {
			await worker.stop();
			for (const abort of running.values()) abort.abort();
			await Promise.allSettled([...running.keys()]);
			await sweeping;
		}
	};
}
