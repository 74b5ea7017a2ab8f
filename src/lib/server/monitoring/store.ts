import { sql } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';

/** `oldest`: ms since the epoch; null without any. */
export interface Waiting {
	count: number;
	oldest: number | null;
}

const waitingSince = (column: 'created_at' | 'updated_at' | 'failing_since') => [
	sql<number>`count(*)`.as('count'),
	sql<number | null>`min(${sql.ref(column)})`.as('oldest')
];

/** Counts unfinished refunds: each has its job until the money is back, or a review is open. */
export const refunds = (queries: Queries, job: string): Promise<Waiting> =>
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

export const failingWebhooks = (queries: Queries): Promise<Waiting> =>
	queries
		.selectFrom('webhook_endpoints')
		.select(waitingSince('failing_since'))
		.where('failing_since', 'is not', null)
		.where('status', '=', 'active')
		.executeTakeFirstOrThrow();

const MAX_RECENT = 1_000;

/** Counts payments by operator and status: those since an instant, but only the newest 1,000. */
export const recentPayments = (queries: Queries, since: number) =>
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

/** Reads all gateways, as the health check does every minute. The states are label values of a metric. */
export async function gateways(
	queries: Queries
): Promise<{ responding: number; silent: number; unknown: number }> {
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
