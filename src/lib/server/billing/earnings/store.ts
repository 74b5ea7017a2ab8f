import { sql, type RawBuilder } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';

/** In minor units. */
export interface Sums {
	sessions: number;
	gross: number;
	fees: number;
	refunds: number;
}

/** Days begin at a quarter of an hour in every time zone, so buckets consist of whole quarters. */
const QUARTER_HOUR_MS = 15 * 60 * 1000;

interface Owner {
	accountId: number;
	currency: string;
}

interface Span {
	from: number;
	until: number;
}

/**
 * An owner's entries in a span: each applied payment at its time of payment, each refund at its own time. All
 * figures are sums of entries. A payment counts while its session is still activating.
 */
function booked({ accountId, currency }: Owner, { from, until }: Span): RawBuilder<Booked> {
	const own = sql`from routers
		join sessions on sessions.router_id = routers.id
		join payments on payments.session_id = sessions.id
		where routers.owner_account_id = ${accountId}
			and payments.currency = ${currency} and payments.applied = 1`;
	return sql`
		select paid_at as at, 1 as sessions, payments.amount_minor as gross,
			(payments.amount_minor * payments.commission_basis_points + 5000) / 10000 as fees, 0 as refunds,
			payments.id as payment_id, sessions.id as session_id, routers.name as router_name,
			payments.phone as phone, sessions.duration as duration, sessions.offer_name as offer_name
		${own} and paid_at >= ${from} and paid_at < ${until}
		union all
		select refunded_at, 0, 0, 0, payments.amount_minor,
			payments.id, sessions.id, routers.name, payments.phone, sessions.duration, sessions.offer_name
		${own} and refunded_at >= ${from} and refunded_at < ${until}`;
}

/** A payment (`sessions` 1) or a refund (`sessions` 0). */
export interface Booked extends Sums {
	at: number;
	payment_id: number;
	session_id: number;
	router_name: string;
	phone: string;
	duration: string;
	/** null: time at the hourly price. */
	offer_name: string | null;
}

/** Sums entries per quarter of an hour, ascending. One statement, so that the figures are consistent. */
export async function sumsByQuarterHour(
	queries: Queries,
	owner: Owner,
	span: Span
): Promise<(Sums & { at: number })[]> {
	const quarter = sql.lit(QUARTER_HOUR_MS);
	const { rows } = await sql<Sums & { at: number }>`
		select at - at % ${quarter} as at, sum(sessions) as sessions, sum(gross) as gross, sum(fees) as fees,
			sum(refunds) as refunds
		from (${booked(owner, span)}) as booked
		group by at - at % ${quarter} order by 1`.execute(queries);
	return rows;
}

/** Sums entries per name of an offer, the largest first. Time at the hourly price has the name null. */
export async function sumsByOffer(
	queries: Queries,
	owner: Owner,
	span: Span
): Promise<(Sums & { offer_name: string | null })[]> {
	const { rows } = await sql<Sums & { offer_name: string | null }>`
		select offer_name, sum(sessions) as sessions, sum(gross) as gross, sum(fees) as fees, sum(refunds) as refunds
		from (${booked(owner, span)}) as booked
		group by offer_name order by sum(gross) desc, offer_name`.execute(queries);
	return rows;
}

/** Position of an entry: time, payment, and 1 for the payment or 0 for its refund. */
export type LinePlace = readonly [at: number, paymentId: number, sessions: number];

export async function lines(
	queries: Queries,
	owner: Owner,
	span: Span,
	page: { after: LinePlace | null; limit: number }
): Promise<Booked[]> {
	const [at, paymentId, sessions] = page.after ?? [];
	const after =
		page.after === null ? sql`` : sql`where (at, payment_id, sessions) < (${at}, ${paymentId}, ${sessions})`;
	const { rows } = await sql<Booked>`
		select * from (${booked(owner, span)}) as booked ${after}
		order by at desc, payment_id desc, sessions desc limit ${page.limit}`.execute(queries);
	return rows;
}
