import { sql, type RawBuilder } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';

/** In minor units. */
export interface Sums {
	sessions: number;
	gross: number;
	/** Negative if refunds returned more than sales cost. */
	fees: number;
	refunds: number;
}

/** Days begin at a quarter of an hour in every time zone, so buckets consist of whole quarters. */
const QUARTER_HOUR_MS = 15 * 60 * 1000;

interface TimeRange {
	from: number;
	until: number;
}

/** Which entries of an owner count. */
export interface Sold extends TimeRange {
	accountId: number;
	currency: string;
	router?: number | null;
	/** The name of an offer; '' for time at the hourly price. */
	offer?: string | null;
	method?: string | null;
	kind?: 'payment' | 'refund' | null;
	/** Parts of the span. */
	hours?: readonly TimeRange[] | null;
}

type Time = RawBuilder<unknown>;
const PAID = sql`paid_at`;
const REFUNDED = sql`refunded_at`;

/**
 * An owner's entries in a span: each applied payment at its time of payment, each refund at its own time. A refund
 * returns the fee of its payment, so the two come to 0. All figures are sums of entries. A payment counts while its
 * session is still activating.
 */
function booked<Row>({ kind }: Sold, payments: RawBuilder<Row>, refunds: RawBuilder<Row>): RawBuilder<Row> {
	if (kind) return kind === 'payment' ? payments : refunds;
	return sql`${payments} union all ${refunds}`;
}

const FEE = sql`(payments.amount_minor * payments.commission_basis_points + 5000) / 10000`;

const entries = (sold: Sold): RawBuilder<Booked> =>
	booked<Booked>(
		sold,
		sql`select paid_at as at, 1 as sessions, payments.amount_minor as gross, ${FEE} as fees, 0 as refunds,
			${FACTS} ${within(PAID, sold)}`,
		sql`select refunded_at as at, 0 as sessions, 0 as gross, -${FEE} as fees, payments.amount_minor as refunds,
			${FACTS} ${within(REFUNDED, sold)}`
	);

const FACTS = sql`payments.id as payment_id, payments.payment_method as payment_method, payments.phone as phone,
	payments.provider_reference as transaction_id, sessions.id as session_id, sessions.duration as duration, sessions.offer_name as offer_name,
	routers.id as router_id, routers.name as router_name`;

/**
 * Sums entries by their keys. Payments and refunds are summed apart first: both databases then sort or hash fewer and
 * shorter rows.
 * @param keys the columns of the result by name, each from the time of the entry
 */
async function sumsBy<Row>(
	queries: Queries,
	sold: Sold,
	keys: Readonly<Record<string, (at: Time) => RawBuilder<unknown>>>,
	order: RawBuilder<unknown>
): Promise<(Row & Sums)[]> {
	const names = Object.keys(keys);
	const grouped = sql`group by ${sql.join(names.map((_, index) => sql.lit(index + 1)))}`;
	const keysAt = (at: Time) =>
		sql.join(Object.entries(keys).map(([name, key]) => sql`${key(at)} as ${sql.ref(name)}`));
	const sums = booked(
		sold,
		sql`select ${keysAt(PAID)}, count(*) as sessions, sum(payments.amount_minor) as gross, sum(${FEE}) as fees,
			0 as refunds ${within(PAID, sold)} ${grouped}`,
		sql`select ${keysAt(REFUNDED)}, 0 as sessions, 0 as gross, -sum(${FEE}) as fees,
			sum(payments.amount_minor) as refunds ${within(REFUNDED, sold)} ${grouped}`
	);
	const { rows } = await sql<Row & Sums>`
		select ${sql.join(names.map((name) => sql.ref(name)))}, sum(sessions) as sessions, sum(gross) as gross,
			sum(fees) as fees, sum(refunds) as refunds
		from (${sums}) as sums ${grouped} ${order}`.execute(queries);
	return rows;
}

/** SQLite begins with the first table of a cross join: the payments of the span, by the index of their time. */
const own = ({ accountId, currency, router, offer, method }: Sold) => sql`
	from payments cross join sessions cross join routers
	where sessions.id = payments.session_id and routers.id = sessions.router_id
		and routers.owner_account_id = ${accountId} and payments.currency = ${currency} and payments.applied = 1
		${router == null ? sql`` : sql`and routers.id = ${router}`}
		${offer == null ? sql`` : sql`and coalesce(sessions.offer_name, '') = ${offer}`}
		${method == null ? sql`` : sql`and payments.payment_method = ${method}`}`;

function within(at: Time, sold: Sold) {
	const { from, until, hours } = sold;
	const span = sql`${own(sold)} and ${at} >= ${from} and ${at} < ${until}`;
	if (!hours) return span;
	const parts = hours.map((hour) => sql`${at} >= ${hour.from} and ${at} < ${hour.until}`);
	return sql`${span} and (${parts.length === 0 ? sql`1 = 0` : sql.join(parts, sql` or `)})`;
}

/** A payment (`sessions` 1) or a refund (`sessions` 0). */
export interface Booked extends Sums {
	at: number;
	payment_id: number;
	payment_method: string;
	phone: string;
	session_id: number;
	duration: string;
	/** The operator’s, of the payment. */
	transaction_id: string | null;
	/** null: time at the hourly price. */
	offer_name: string | null;
	router_id: number;
	router_name: string;
}

/** Sums the payments of all routers that bought time, in minor units. */
export async function takings(
	queries: Queries,
	currency: string,
	{ from, until }: TimeRange
): Promise<number> {
	const { sum } = await queries
		.selectFrom('payments')
		.select(({ fn }) => fn.sum<number | null>('amount_minor').as('sum'))
		.where('applied', '=', sql.lit(1))
		.where('paid_at', '>=', from)
		.where('paid_at', '<', until)
		.where('currency', '=', currency)
		.executeTakeFirstOrThrow();
	return sum ?? 0;
}

/** Sums entries per quarter of an hour, ascending. One statement, so that the figures are consistent. */
export function sumsByQuarterHour(queries: Queries, sold: Sold) {
	const quarter = sql.lit(QUARTER_HOUR_MS);
	return sumsBy<{ at: number }>(
		queries,
		sold,
		{ at: (at) => sql`${at} - ${at} % ${quarter}` },
		sql`order by 1`
	);
}

interface PartOfSales extends Pick<Booked, 'offer_name' | 'payment_method'> {
	/** Index of the part of the span. */
	part: number;
}

/** Sums entries per part of the span, name of an offer and payment method. One statement keeps the figures consistent. */
export function sumsByPart(queries: Queries, sold: Sold, ends: readonly number[]) {
	const whens = (at: Time) => ends.map((end, index) => sql`when ${at} < ${end} then ${sql.lit(index)}`);
	const keys = {
		part: (at: Time) => sql`case ${sql.join(whens(at), sql` `)} end`,
		offer_name: () => sql`sessions.offer_name`,
		payment_method: () => sql`payments.payment_method`
	};
	return sumsBy<PartOfSales>(queries, sold, keys, sql`order by 1, 2, 3`);
}

/** Sums entries per router, the largest net first. Without a limit: all that sold something. */
export function sumsByRouter(queries: Queries, sold: Sold, limit: number | null = null) {
	const keys = { router_id: () => sql`routers.id`, router_name: () => sql`routers.name` };
	const most = limit === null ? sql`` : sql`limit ${limit}`;
	const order = sql`order by sum(gross - fees - refunds) desc, router_id ${most}`;
	return sumsBy<Pick<Booked, 'router_id' | 'router_name'>>(queries, sold, keys, order);
}

/** Position of an entry: time, payment, and 1 for the payment or 0 for its refund. */
export type LinePosition = readonly [at: number, paymentId: number, sessions: number];

export async function lines(
	queries: Queries,
	sold: Sold,
	page: { after: LinePosition | null; limit: number }
): Promise<Booked[]> {
	const [at, paymentId, sessions] = page.after ?? [];
	const after =
		page.after === null ? sql`` : sql`where (at, payment_id, sessions) < (${at}, ${paymentId}, ${sessions})`;
	const { rows } = await sql<Booked>`
		select * from (${entries(sold)}) as booked ${after}
		order by at desc, payment_id desc, sessions desc limit ${page.limit}`.execute(queries);
	return rows;
}
