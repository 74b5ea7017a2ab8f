import { setTimeout as sleep } from 'node:timers/promises';
import type { Reviews } from '../billing/reviews/reviews.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../db/database.ts';
import { databaseBytes } from '../db/inspect.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { equalSecrets } from '../platform/secrets.ts';
import * as store from './store.ts';

/** Scrapes share a reading, so that many of them cost the database what one costs. */
const KEPT_MS = 5_000;
/** Below the default timeout of Prometheus. */
const READ_TIMEOUT_MS = 5_000;

interface MonitoringContext {
	config: Config;
	clock: Clock;
	log: Log;
	metrics: Metrics;
	database: Database;
	jobs: Jobs;
	reviews: Reviews;
	/** Kinds of jobs. */
	kinds: { refund: string; delivery: string };
}

/** Adds gauges read from the database to the metrics of this process. */
export function createMonitoring(context: MonitoringContext) {
	const { config, clock, metrics } = context;
	let kept: { until: number; text: Promise<string> } | null = null;
	return {
		isOn: metrics.isOn,
		/** @param authorization header of the request */
		mayRead: (authorization: string | null): boolean =>
			config.metricsToken !== null && equalSecrets(authorization ?? '', `Bearer ${config.metricsToken}`),
		async text(): Promise<string> {
			const now = clock.now();
			if (!kept || now >= kept.until) {
				kept = { until: now + KEPT_MS, text: readDatabase(context).then(() => metrics.text()) };
			}
			return kept.text;
		}
	};
}

/** Never throws: without its database, the metrics of the process still tell what is wrong. */
async function readDatabase(context: MonitoringContext): Promise<void> {
	const { log, metrics } = context;
	const timeout = sleep(READ_TIMEOUT_MS, false, { ref: false });
	const reading = setGauges(context).then(
		() => true,
		(error: unknown) => {
			log.warn({ err: error }, 'metrics cannot be read from the database');
			return false;
		}
	);
	metrics.set('airtill_database_up', [[{}, (await Promise.race([reading, timeout])) ? 1 : 0]]);
}

/** Reads one after the other: never more than one connection. */
async function setGauges(context: MonitoringContext): Promise<void> {
	const { clock, metrics, database, jobs, reviews } = context;
	const now = clock.now();
	const age = (since: number | null) => (since === null ? 0 : Math.max(0, now - since) / 1000);

	const connections = database.connections();
	if (connections) {
		const states = Object.entries(connections).map(([state, count]) => [{ state }, count] as const);
		metrics.set('airtill_database_connections', states);
	}
	metrics.set('airtill_database_size_bytes', [[{}, await databaseBytes(database)]]);

	const waiting = Object.entries({
		review: await reviews.countOpen(),
		refund: await store.refunds(database.db, context.kinds.refund),
		gateway: await store.passes(database.db)
	}).map(([what, { count, oldest }]) => ({ labels: { for: what }, count, oldest }));
	metrics.set(
		'airtill_money_waiting',
		waiting.map(({ labels, count }) => [labels, count])
	);
	metrics.set(
		'airtill_money_waiting_oldest_seconds',
		waiting.map(({ labels, oldest }) => [labels, age(oldest)])
	);

	const { kinds, groups } = await jobs.due();
	const due = groups.count > 0 ? [...kinds, { kind: context.kinds.delivery, ...groups }] : kinds;
	metrics.set(
		'airtill_jobs_due',
		due.map(({ kind, count }) => [{ kind }, count])
	);
	metrics.set(
		'airtill_jobs_due_oldest_seconds',
		due.map(({ kind, oldest }) => [{ kind }, age(oldest)])
	);

	const states = Object.entries(await store.gateways(database.db));
	metrics.set(
		'airtill_gateways',
		states.map(([state, count]) => [{ state }, count])
	);
	const failing = await store.failingWebhooks(database.db);
	metrics.set('airtill_webhooks_failing', [[{}, failing.count]]);
	metrics.set('airtill_webhooks_failing_oldest_seconds', [[{}, age(failing.oldest)]]);
}
