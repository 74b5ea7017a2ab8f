import { countOpenReviews } from './billing/reviews.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseMobile } from '../domain/phone.ts';
import { parseId } from '../domain/text.ts';
import { DAY_MS } from '../domain/time.ts';
import type { Base } from './base.ts';
import type { Row } from './db/schema.ts';
import { databaseBytes } from './db/inspect.ts';
import { equalSecrets } from './platform/secrets.ts';
import { spellTransaction } from './portal/resume.ts';
import type { Queries } from './db/database.ts';
import { sql } from 'kysely';

/** Gauges of /metrics that are read from the database, and what the pages of administrators show of them. */

/** Scrapes share a reading, so that many of them cost the database what one costs. */
const KEPT_MS = 5_000;
/** Below the default timeout of Prometheus. */
const READ_TIMEOUT_MS = 5_000;
/** Newest payments and open matters of one router that are read. */
const MAX_OF_ROUTER = 20;

interface MonitoringContext extends Base {
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
		recentPayments: () => recentPayments(context.database.db, clock.now() - DAY_MS),
		/** Ids of routers with a gateway in this state, at most 100. */
		listRouterIds: (state: GatewayState) => listRouterIds(context.database.db, state),
		/** Lists the newest payments of a figure, with their routers. */
		listPayments: (filter: PaymentFilter) => listPayments(context, filter),
		/** Finds payments by their id, the operator's transaction ID (also in its pasted message) or the payer's whole number. */
		findPayments: (typed: string) => findPayments(context, typed),
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

/** Reads one after the other: never more than one connection. `oldest`: ms since the epoch; null without any. */
async function read({ database, jobs, kinds }: MonitoringContext) {
	const waiting = {
		review: await countOpenReviews(database.db),
		refund: await findRefunds(database.db, kinds.refund),
		gateway: await passes(database.db)
	};
	const due = await jobs.due();
	const groups = due.groups.count > 0 ? [{ kind: kinds.delivery, ...due.groups }] : [];
	return {
		waiting,
		jobs: [...due.kinds, ...groups],
		gateways: await findGateways(database.db),
		webhooks: await failingWebhooks(database.db)
	};
}

async function moneyOf({ database: { db }, kinds }: MonitoringContext, routerId: number) {
	const [payments, reviews, refunds, notConnected] = await Promise.all([
		newestPayments(db, routerId, MAX_OF_ROUTER),
		findOpenReviews(db, routerId, MAX_OF_ROUTER),
		findOpenRefunds(db, kinds.refund, routerId, MAX_OF_ROUTER),
		findNotConnected(db, routerId, MAX_OF_ROUTER)
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
	const setWaiting = (
		name: 'airtill_money_waiting' | 'airtill_jobs_due' | 'airtill_webhooks_failing',
		rows: (Waiting & { labels: Record<string, string> })[]
	) => {
		const counts = rows.map(({ labels, count }) => [labels, count] as const);
		const ages = rows.map(({ labels, oldest }) => [labels, age(oldest)] as const);
		metrics.set(name, counts);
		metrics.set(`${name}_oldest_seconds`, ages);
	};
	const money = Object.entries(waiting);
	setWaiting(
		'airtill_money_waiting',
		money.map(([what, one]) => ({ labels: { for: what }, ...one }))
	);
	setWaiting(
		'airtill_jobs_due',
		jobs.map(({ kind, ...due }) => ({ labels: { kind }, ...due }))
	);
	setWaiting('airtill_webhooks_failing', [{ labels: {}, ...webhooks }]);
	metrics.set(
		'airtill_gateways',
		Object.entries(gateways).map(([state, count]) => [{ state }, count])
	);
}

/** Reads a router's newest payments of purchases, newest purchase first. */
export const newestPayments = (queries: Queries, routerId: number, limit: number) =>
	queries
		.selectFrom('sessions')
		.innerJoin('payments', 'payments.id', 'sessions.payment_id')
		.selectAll('payments')
		.where('sessions.router_id', '=', routerId)
		.orderBy('sessions.id', 'desc')
		.limit(limit)
		.execute();

export const findOpenReviews = (queries: Queries, routerId: number, limit: number) =>
	queries
		.selectFrom('reviews')
		.selectAll()
		.where('resolved_at', 'is', null)
		// Not a join: SQLite would begin with all sessions of the router.
		.where(({ exists, selectFrom }) =>
			exists(
				selectFrom('payments')
					.innerJoin('sessions', 'sessions.id', 'payments.session_id')
					.select('payments.id')
					.whereRef('payments.id', '=', 'reviews.payment_id')
					.where('sessions.router_id', '=', routerId)
			)
		)
		.orderBy('id')
		.limit(limit)
		.execute();

/** Reads a router's unfinished refunds, oldest first. @param job kind of the jobs that each of them has */
export const findOpenRefunds = (queries: Queries, job: string, routerId: number, limit: number) =>
	queries
		.selectFrom('jobs')
		.innerJoin('refunds', 'refunds.id', 'jobs.subject_id')
		.innerJoin('payments', 'payments.id', 'refunds.payment_id')
		.innerJoin('sessions', 'sessions.id', 'payments.session_id')
		.selectAll('refunds')
		.where('jobs.kind', '=', job)
		.where('sessions.router_id', '=', routerId)
		.orderBy('refunds.id')
		.limit(limit)
		.execute();

export const findNotConnected = (queries: Queries, routerId: number, limit: number) =>
	queries
		.selectFrom('sessions')
		.selectAll()
		.where('router_id', '=', routerId)
		.where('status', '=', 'activating')
		.orderBy('id')
		.limit(limit)
		.execute();

/** `oldest`: ms since the epoch; null without any. */
interface Waiting {
	count: number;
	oldest: number | null;
}

const waitingSince = (column: 'created_at' | 'updated_at' | 'failing_since') => [
	sql<number>`count(*)`.as('count'),
	sql<number | null>`min(${sql.ref(column)})`.as('oldest')
];

/** Counts unfinished refunds: each has its job until the money is back, or a review is open. */
export const findRefunds = (queries: Queries, job: string): Promise<Waiting> =>
	queries
		.selectFrom('jobs')
		.select(waitingSince('created_at'))
		.where('kind', '=', job)
		.executeTakeFirstOrThrow();

/** Counts paid passes that no gateway has confirmed. */
export const passes = (queries: Queries): Promise<Waiting> =>
	queries
		.selectFrom('passes')
		.select(waitingSince('updated_at'))
		.where('activating_until', 'is not', null)
		.executeTakeFirstOrThrow();

const failingWebhooks = (queries: Queries): Promise<Waiting> =>
	queries
		.selectFrom('webhook_endpoints')
		.select(waitingSince('failing_since'))
		.where('failing_since', 'is not', null)
		.where('status', '=', 'active')
		.executeTakeFirstOrThrow();

const MAX_LISTED = 100;

interface PaymentFilter {
	/** Of the last day at this operator; null for all that are in the state now. */
	operator: string | null;
	statuses: readonly Row<'payments'>['status'][];
	/** Paid, and no gateway has confirmed the device. */
	isActivating: boolean;
}

const selectPayments = ({ database }: MonitoringContext) =>
	database.db
		.selectFrom('payments')
		.innerJoin('sessions', 'sessions.id', 'payments.session_id')
		.innerJoin('routers', 'routers.id', 'sessions.router_id')
		.selectAll('payments')
		.select(['routers.id as router_id', 'routers.name as router_name'])
		.orderBy('payments.id', 'desc')
		.limit(MAX_LISTED);

function findPayments(context: MonitoringContext, typed: string) {
	const spellings = spellTransaction(typed);
	const phone = parseMobile(typed, context.config.defaultRegion);
	// One after another, because each has its index.
	const ids = sql`
		select id from payments where id = ${parseId(spellings[0] ?? '') ?? 0}
		union select id from payments where provider_reference in (${sql.join(spellings)})
		union select id from payments where phone = ${phone ?? ''}`;
	return selectPayments(context)
		.where(sql<boolean>`payments.id in (${ids})`)
		.execute();
}

const listPayments = (context: MonitoringContext, { operator, statuses, isActivating }: PaymentFilter) =>
	selectPayments(context)
		.where('payments.status', 'in', statuses)
		.$if(isActivating, (found) => found.where('sessions.status', '=', 'activating'))
		.$if(operator !== null, (found) =>
			found
				.where('payments.operator', '=', operator ?? '')
				.where('payments.created_at', '>=', context.clock.now() - DAY_MS)
		)
		.execute();

const MAX_RECENT = 1_000;

/** Counts payments by operator and status: those since an instant, but only the newest 1,000. */
const recentPayments = (queries: Queries, since: number) =>
	queries
		.selectFrom(
			queries
				.selectFrom('payments')
				.select(['operator', 'status', 'created_at'])
				.orderBy('id', 'desc')
				.limit(MAX_RECENT)
				.as('recent')
		)
		.select(({ fn }) => ['operator', 'status', fn.countAll<number>().as('count')])
		.where('created_at', '>=', since)
		.groupBy(['operator', 'status'])
		.orderBy('operator')
		.execute();

export const GATEWAY_STATES = ['responding', 'silent', 'unknown'] as const;
type GatewayState = (typeof GATEWAY_STATES)[number];

async function listRouterIds(queries: Queries, state: GatewayState): Promise<number[]> {
	const found = await queries
		.selectFrom('gateways')
		.select('router_id')
		.distinct()
		.where('unresponsive_since', state === 'silent' ? 'is not' : 'is', null)
		.$if(state !== 'silent', (all) => all.where('seen_at', state === 'unknown' ? 'is' : 'is not', null))
		.orderBy('router_id')
		.limit(MAX_LISTED)
		.execute();
	return found.map(({ router_id: id }) => id);
}

/** Reads all gateways, as the health check does every minute. The states are label values of a metric. */
async function findGateways(queries: Queries) {
	const row = await queries
		.selectFrom('gateways')
		.select(({ fn }) => [
			fn.countAll<number>().as('all'),
			fn.count<number>('unresponsive_since').as('silent'),
			sql<number>`count(case when seen_at is null and unresponsive_since is null then 1 end)`.as('unknown')
		])
		.executeTakeFirstOrThrow();
	return { responding: row.all - row.silent - row.unknown, silent: row.silent, unknown: row.unknown };
}
