import { type RawBuilder, sql } from 'kysely';
import { toMajor } from '#lib/domain/money.ts';
import { maskPhone } from '#lib/domain/phone.ts';
import { MAX_BUCKETS, type Period, buckets, dateAt, hourAt, spansOfHour } from '#lib/domain/time.ts';
import type { Caller } from '../accounts/accounts.ts';
import type { Base } from '../base.ts';
import type { EarningsBody } from '../contract/owner.ts';
import type { Reads } from '../db/database.ts';
import { cutPage } from '../db/queries.ts';
import { validationFailed } from '../platform/errors.ts';

/** Which payments and refunds of a period count; null or missing: all. */
export interface Filter extends Pick<Sold, 'router' | 'offer' | 'method' | 'kind'> {
	/** Of the day, 0 to 23, in the time zone of reports. */
	hour?: number | null;
}

/** Also of a job, whose reads are fenced. */
type Books = Pick<Base, 'clock' | 'config'> & { database: { db: Reads } };

type Owner = Pick<Caller, 'accountId'>;
/** The periods around a day, or from one to another, YYYY-MM-DD; by default the last ones (`buckets`). */
interface Asked {
	period: Period;
	day?: string;
	from?: string | undefined;
	to?: string | undefined;
	filter?: Filter;
}

/** Earnings of owners, summed in minor units and returned in major units. */

/** YYYY-MM-DD in the time zone of reports. */
export const findToday = ({ clock, config }: Books): string => dateAt(clock.now(), config.reportTimezone);

/** @throws Refused `validation_failed` if the span is empty or too long */
function computeSpan(base: Books, { period, day, from = day, to = day }: Asked) {
	const asked = { from: from ?? null, to: to ?? null };
	const parts = buckets(period, asked, findToday(base), base.config.reportTimezone);
	const [first, last] = [parts?.[0], parts?.at(-1)];
	if (parts && first && last) {
		return { parts, start: first.start, end: last.end, from: first.from, until: last.until };
	}
	const detail = `Use a day that is not after "to", at most ${MAX_BUCKETS} periods before it.`;
	throw validationFailed([{ in: 'query', pointer: '/from', code: 'out_of_range', detail }]);
}

/** Reads what is asked for. @throws as `computeSpan` */
async function readSums<Row>(
	base: Books,
	{ accountId }: Owner,
	of: Asked,
	find: (queries: Reads, sold: Sold, ends: number[]) => Promise<Row[]>
) {
	const { currency, reportTimezone } = base.config;
	const { hour, ...filter }: Filter = of.filter ?? {};
	const { from, until, ...span } = computeSpan(base, of);
	// The parts of the span in which the zone's clock shows the hour.
	const hours = hour == null ? null : spansOfHour(hour, { from, until }, reportTimezone);
	const sold = { accountId, currency, from, until, ...filter, hours };
	const ends = span.parts.map((part) => part.until);
	return { ...span, rows: await find(base.database.db, sold, ends) };
}

/** Lists the payments and refunds of a span, newest first. @throws as `computeSpan` */
export async function listLines(
	base: Books,
	owner: Owner,
	of: Asked,
	{ after, limit }: { after: LinePosition | null; limit: number }
) {
	const { currency } = base.config;
	const { rows: found } = await readSums(base, owner, of, (queries, sold) =>
		findLines(queries, sold, { after, limit: limit + 1 })
	);
	const readPosition = (last: Booked): LinePosition => [last.at, last.payment_id, last.sessions];
	const { rows, next } = cutPage(found, limit, readPosition);
	return { data: rows.map((line) => describeLine(line, currency)), next, currency };
}

/**
 * Sums few periods, each offer in them (null: time at the hourly price) and each payment method, the largest first, and
 * everything.
 * @throws as `computeSpan`
 */
export async function sumBreakdown(base: Books, owner: Owner, of: Asked) {
	const { currency } = base.config;
	const { parts, start, end, rows: sums } = await readSums(base, owner, of, findSumsByPart);
	return {
		...{ period: of.period, currency, start, end },
		...computeParts(parts, sums, currency),
		offers: computeByName(sums, (one) => one.offer_name, currency),
		methods: computeByName(sums, (one) => one.payment_method, currency)
	};
}

/** Sums the periods of a span. @throws as `computeSpan` */
export async function sumEarnings(base: Books, owner: Owner, of: Asked): Promise<EarningsBody> {
	const { currency, reportTimezone: timezone } = base.config;
	const { parts, start, end, rows: quarters } = await readSums(base, owner, of, findSumsByQuarterHour);
	// One pass: parts and quarters both ascend.
	let part = 0;
	const sums = quarters.map((quarter) => {
		while (quarter.at >= (parts[part]?.until ?? Infinity)) part += 1;
		return { ...quarter, part };
	});
	return {
		...{ period: of.period, currency, timezone, from: start, to: end },
		...computeParts(parts, sums, currency)
	};
}

/** Sums a period's entries by router, the largest first, and all sums returned. */
export async function sumRouters(base: Books, owner: Owner, of: Asked, limit: number | null = null) {
	const { currency } = base.config;
	const { start, end, rows } = await readSums(base, owner, of, (queries, sold) =>
		findSumsByRouter(queries, sold, limit)
	);
	return {
		...{ currency, start, end },
		total: computeFigures(rows, currency),
		data: rows.map((one) => ({
			id: one.router_id,
			name: one.router_name,
			...computeFigures([one], currency)
		}))
	};
}

/** Sums a period's entries by the hour of the day, 0 to 23. */
export async function sumHours(base: Books, owner: Owner, of: Asked) {
	const { currency, reportTimezone } = base.config;
	const { rows } = await readSums(base, owner, of, findSumsByQuarterHour);
	const byHour = Map.groupBy(rows, ({ at }) => hourAt(at, reportTimezone));
	return Array.from({ length: 24 }, (_, hour) => ({
		hour,
		...computeFigures(byHour.get(hour) ?? [], currency)
	}));
}

/** Sums what all routers have taken in the present period, before refunds, in major units. */
export async function sumTakings(base: Books, period: Period): Promise<number> {
	const { currency } = base.config;
	const span = computeSpan(base, { period, day: findToday(base) });
	const taken = await findTakings(base.database.db, currency, span);
	return toMajor(taken, currency);
}

/** @param sums with the index of their part of the span */
function computeParts(
	parts: readonly { start: string; end: string }[],
	sums: readonly (Sums & { part: number })[],
	currency: string
) {
	const byPart = Map.groupBy(sums, ({ part }) => part);
	return {
		total: computeFigures(sums, currency),
		data: parts.map(({ start, end }, part) => ({
			start,
			end,
			...computeFigures(byPart.get(part) ?? [], currency)
		}))
	};
}

function computeByName<One extends Sums, Name>(
	sums: readonly One[],
	findName: (one: One) => Name,
	currency: string
) {
	return [...Map.groupBy(sums, findName)]
		.map(([name, ofName]) => ({ name, ...computeFigures(ofName, currency) }))
		.sort((one, other) => other.net - one.net);
}

function computeFigures(sums: readonly Sums[], currency: string) {
	const sum = (name: keyof Sums) => sums.reduce((total, one) => total + one[name], 0);
	const [gross, refunds, fees] = [sum('gross'), sum('refunds'), sum('fees')];
	return {
		sessions: sum('sessions'),
		gross: toMajor(gross, currency),
		refunds: toMajor(refunds, currency),
		fees: toMajor(fees, currency),
		net: toMajor(gross - refunds - fees, currency)
	};
}

/** A payment that bought time, or its refund. Amounts are in major units; those of refunds are negative, the fee too. */
function describeLine(line: Booked, currency: string) {
	const amount = line.gross - line.refunds;
	return {
		kind: line.sessions > 0 ? ('payment' as const) : ('refund' as const),
		at: line.at,
		paymentId: line.payment_id,
		sessionId: line.session_id,
		routerName: line.router_name,
		phoneMasked: maskPhone(line.phone),
		duration: line.duration,
		offerName: line.offer_name,
		transaction: line.transaction_id,
		amount: toMajor(amount, currency),
		fee: toMajor(line.fees, currency),
		net: toMajor(amount - line.fees, currency)
	};
}

/** In minor units. */
interface Sums {
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
interface Sold extends TimeRange {
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
function selectBooked<Row>(
	{ kind }: Sold,
	payments: RawBuilder<Row>,
	refunds: RawBuilder<Row>
): RawBuilder<Row> {
	if (kind) return kind === 'payment' ? payments : refunds;
	return sql`${payments} union all ${refunds}`;
}

const FEE = sql`(payments.amount_minor * payments.commission_basis_points + 5000) / 10000`;

const selectEntries = (sold: Sold): RawBuilder<Booked> =>
	selectBooked<Booked>(
		sold,
		sql`select paid_at as at, 1 as sessions, payments.amount_minor as gross, ${FEE} as fees, 0 as refunds,
			${FACTS} ${selectWithin(PAID, sold)}`,
		sql`select refunded_at as at, 0 as sessions, 0 as gross, -${FEE} as fees, payments.amount_minor as refunds,
			${FACTS} ${selectWithin(REFUNDED, sold)}`
	);

const FACTS = sql`payments.id as payment_id, payments.payment_method as payment_method, payments.phone as phone,
	payments.provider_reference as transaction_id, sessions.id as session_id, sessions.duration as duration, sessions.offer_name as offer_name,
	routers.id as router_id, routers.name as router_name`;

/**
 * Sums entries by their keys. Payments and refunds are summed apart first: both databases then sort or hash fewer and
 * shorter rows.
 * @param keys the columns of the result by name, each from the time of the entry
 */
async function findSumsBy<Row>(
	queries: Reads,
	sold: Sold,
	keys: Readonly<Record<string, (at: Time) => RawBuilder<unknown>>>,
	order: RawBuilder<unknown>
): Promise<(Row & Sums)[]> {
	const names = Object.keys(keys);
	const grouped = sql`group by ${sql.join(names.map((_, index) => sql.lit(index + 1)))}`;
	const keysAt = (at: Time) =>
		sql.join(Object.entries(keys).map(([name, key]) => sql`${key(at)} as ${sql.ref(name)}`));
	const sums = selectBooked(
		sold,
		sql`select ${keysAt(PAID)}, count(*) as sessions, sum(payments.amount_minor) as gross, sum(${FEE}) as fees,
			0 as refunds ${selectWithin(PAID, sold)} ${grouped}`,
		sql`select ${keysAt(REFUNDED)}, 0 as sessions, 0 as gross, -sum(${FEE}) as fees,
			sum(payments.amount_minor) as refunds ${selectWithin(REFUNDED, sold)} ${grouped}`
	);
	const { rows } = await sql<Row & Sums>`
		select ${sql.join(names.map((name) => sql.ref(name)))}, sum(sessions) as sessions, sum(gross) as gross,
			sum(fees) as fees, sum(refunds) as refunds
		from (${sums}) as sums ${grouped} ${order}`.execute(queries);
	return rows;
}

/** SQLite begins with the first table of a cross join: the payments of the span, by the index of their time. */
const selectSold = ({ accountId, currency, router, offer, method }: Sold) => sql`
	from payments cross join sessions cross join routers
	where sessions.id = payments.session_id and routers.id = sessions.router_id
		and routers.owner_account_id = ${accountId} and payments.currency = ${currency} and payments.applied = 1
		${router == null ? sql`` : sql`and routers.id = ${router}`}
		${offer == null ? sql`` : sql`and coalesce(sessions.offer_name, '') = ${offer}`}
		${method == null ? sql`` : sql`and payments.payment_method = ${method}`}`;

function selectWithin(at: Time, sold: Sold) {
	const { from, until, hours } = sold;
	const span = sql`${selectSold(sold)} and ${at} >= ${from} and ${at} < ${until}`;
	if (!hours) return span;
	const parts = hours.map((hour) => sql`${at} >= ${hour.from} and ${at} < ${hour.until}`);
	return sql`${span} and (${parts.length === 0 ? sql`1 = 0` : sql.join(parts, sql` or `)})`;
}

/** A payment (`sessions` 1) or a refund (`sessions` 0). */
interface Booked extends Sums {
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
export async function findTakings(queries: Reads, currency: string, { from, until }: TimeRange) {
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
export function findSumsByQuarterHour(queries: Reads, sold: Sold) {
	const quarter = sql.lit(QUARTER_HOUR_MS);
	return findSumsBy<{ at: number }>(
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
export function findSumsByPart(queries: Reads, sold: Sold, ends: readonly number[]) {
	const whens = (at: Time) => ends.map((end, index) => sql`when ${at} < ${end} then ${sql.lit(index)}`);
	const keys = {
		part: (at: Time) => sql`case ${sql.join(whens(at), sql` `)} end`,
		offer_name: () => sql`sessions.offer_name`,
		payment_method: () => sql`payments.payment_method`
	};
	return findSumsBy<PartOfSales>(queries, sold, keys, sql`order by 1, 2, 3`);
}

/** Sums entries per router, the largest net first. Without a limit: all that sold something. */
export function findSumsByRouter(queries: Reads, sold: Sold, limit: number | null = null) {
	const keys = { router_id: () => sql`routers.id`, router_name: () => sql`routers.name` };
	const most = limit === null ? sql`` : sql`limit ${limit}`;
	const order = sql`order by sum(gross - fees - refunds) desc, router_id ${most}`;
	return findSumsBy<Pick<Booked, 'router_id' | 'router_name'>>(queries, sold, keys, order);
}

/** Position of an entry: time, payment, and 1 for the payment or 0 for its refund. */
export type LinePosition = readonly [at: number, paymentId: number, sessions: number];

export async function findLines(
	queries: Reads,
	sold: Sold,
	page: { after: LinePosition | null; limit: number }
): Promise<Booked[]> {
	const [at, paymentId, sessions] = page.after ?? [];
	const after =
		page.after === null ? sql`` : sql`where (at, payment_id, sessions) < (${at}, ${paymentId}, ${sessions})`;
	const { rows } = await sql<Booked>`
		select * from (${selectEntries(sold)}) as booked ${after}
		order by at desc, payment_id desc, sessions desc limit ${page.limit}`.execute(queries);
	return rows;
}
