import { sql } from 'kysely';
import type { Queries } from '../db/database.ts';

/** Sums in minor units. */
export interface Sums {
	sessions: number;
	gross: number;
	fees: number;
	refunds: number;
}

/** Every zone's days begin at one of these, so that a bucket of any zone is made of whole ones. */
const QUARTER_HOUR_MS = 15 * 60 * 1000;

/**
 * What the applied payments on an owner's routers come to in each quarter of an hour in which there were any, in
 * ascending order: booked by the moment they were paid, what went back of them by the moment it went back. One
 * statement, so that the figures belong together, and one pass, however long the report is.
 */
export async function sumsByQuarterHour(
	queries: Queries,
	owner: { accountId: number; currency: string },
	span: { from: number; until: number }
): Promise<(Sums & { at: number })[]> {
	const quarter = sql.lit(QUARTER_HOUR_MS);
	const own = sql`from routers
		join sessions on sessions.router_id = routers.id
		join payments on payments.session_id = sessions.id
		where routers.owner_account_id = ${owner.accountId}
			and payments.currency = ${owner.currency} and payments.applied = 1`;
	const { rows } = await sql<Sums & { at: number }>`
		select at, sum(sessions) as sessions, sum(gross) as gross, sum(fees) as fees, sum(refunds) as refunds
		from (
			select paid_at - paid_at % ${quarter} as at, 1 as sessions, payments.amount_minor as gross,
				(payments.amount_minor * payments.commission_basis_points + 5000) / 10000 as fees, 0 as refunds
			${own} and paid_at >= ${span.from} and paid_at < ${span.until}
			union all
			select refunded_at - refunded_at % ${quarter}, 0, 0, 0, payments.amount_minor
			${own} and refunded_at >= ${span.from} and refunded_at < ${span.until}
		) as booked
		group by at order by at`.execute(queries);
	return rows;
}
