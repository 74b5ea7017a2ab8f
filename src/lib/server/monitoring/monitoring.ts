import { setTimeout as sleep } from 'node:timers/promises';
import { DAY_MS } from '#lib/domain/time/time.ts';
import type { Base } from '../base.ts';
import type { Reviews } from '../billing/reviews/reviews.ts';
import { databaseBytes } from '../db/inspect.ts';
import { equalSecrets } from '../platform/secrets.ts';
import * as routerMoney from './router-money.ts';
import * as store from './store.ts';

/** Scrapes share a reading, so that many of them cost the database what one costs. */
const KEPT_MS = 5_000;
/** Below the default timeout of Prometheus. */
const READ_TIMEOUT_MS = 5_000;
/** Newest payments and open matters of one router that are read. */
const MAX_OF_ROUTER = 20;

interface MonitoringContext extends Base {
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
		read: () => read(context),
		/** Counts the payments of the last day by operator and status, at most the newest 1,000. */
		recentPayments: () => store.recentPayments(context.database.db, clock.now() - DAY_MS),
		/** Reads the newest payments of a router, and money there that waits; at most 20 of each. */
		moneyOf: (routerId: number) => moneyOf(context, routerId),
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

export type Readings = Awaited<ReturnType<typeof read>>;

/** Reads one after the other: never more than one connection. `oldest`: ms since the epoch; null without any. */
async function read({ database, jobs, reviews, kinds }: MonitoringContext) {
	const waiting = {
		review: await reviews.countOpen(),
		refund: await store.refunds(database.db, kinds.refund),
		gateway: await store.passes(database.db)
	};
	const due = await jobs.due();
	const groups = due.groups.count > 0 ? [{ kind: kinds.delivery, ...due.groups }] : [];
	return {
		waiting,
		jobs: [...due.kinds, ...groups],
		gateways: await store.gateways(database.db),
		webhooks: await store.failingWebhooks(database.db)
	};
}

async function moneyOf({ database: { db }, kinds }: MonitoringContext, routerId: number) {
	const [payments, reviews, refunds, notConnected] = await Promise.all([
		routerMoney.newestPayments(db, routerId, MAX_OF_ROUTER),
		routerMoney.openReviews(db, routerId, MAX_OF_ROUTER),
		routerMoney.openRefunds(db, kinds.refund, routerId, MAX_OF_ROUTER),
		routerMoney.notConnected(db, routerId, MAX_OF_ROUTER)
	]);
	return { payments, reviews, refunds, notConnected };
}

async function setGauges(context: MonitoringContext): Promise<void> {
	const { clock, metrics, database } = context;
	const now = clock.now();
	const age = (since: number | null) => (since === null ? 0 : Math.max(0, now - since) / 1000);

	const connections = database.connections();
	if (connections) {
		const states = Object.entries(connections).map(([state, count]) => [{ state }, count] as const);
		metrics.set('airtill_database_connections', states);
	}
	metrics.set('airtill_database_size_bytes', [[{}, await databaseBytes(database)]]);

	const { waiting, jobs, gateways, webhooks } = await read(context);
	const money = Object.entries(waiting).map(([what, one]) => ({ labels: { for: what }, ...one }));
	metrics.set(
		'airtill_money_waiting',
		money.map(({ labels, count }) => [labels, count])
	);
	metrics.set(
		'airtill_money_waiting_oldest_seconds',
		money.map(({ labels, oldest }) => [labels, age(oldest)])
	);
	metrics.set(
		'airtill_jobs_due',
		jobs.map(({ kind, count }) => [{ kind }, count])
	);
	metrics.set(
		'airtill_jobs_due_oldest_seconds',
		jobs.map(({ kind, oldest }) => [{ kind }, age(oldest)])
	);
	metrics.set(
		'airtill_gateways',
		Object.entries(gateways).map(([state, count]) => [{ state }, count])
	);
	metrics.set('airtill_webhooks_failing', [[{}, webhooks.count]]);
	metrics.set('airtill_webhooks_failing_oldest_seconds', [[{}, age(webhooks.oldest)]]);
}
