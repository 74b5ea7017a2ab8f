import { type RawBuilder, sql } from 'kysely';
import { toMajor } from '#lib/domain/money.ts';
import { VOUCHER_METHOD } from '#lib/domain/payment-methods.ts';
import { maskPhone } from '#lib/domain/phone.ts';
import { MAX_BUCKETS, type Period, buckets, dateAt, hourAt, spansOfHour } from '#lib/domain/time.ts';
import type { Caller } from '../accounts/accounts.ts';
import type { Base } from '../base.ts';
import type { EarningsBody } from '../contract/owner.ts';
import type { Reads } from '../db/database.ts';
import { cutPage } from '../db/queries.ts';
import { validationFailed } from '../platform/errors.ts';

/**
 * Earnings of owners: what was paid and refunded, by period, router, offer and payment method. All are sums of entries of
 * the books (books.ts) in minor units, returned in major units. A payment counts when it was paid, a refund when the money
 * went back, so that a past period never changes. Beside them: where the money is.
 */

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
	const { rows, next } = cutPage(found, limit, findPosition);
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
		data: rows.filter(hasIncome).map((one) => ({
			id: one.router_id ?? 0,
			name: one.router_name ?? '',
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
	return [...Map.groupBy(sums.filter(hasIncome), findName)]
		.map(([name, ofName]) => ({ name, ...computeFigures(ofName, currency) }))
		.sort((one, other) => other.net - one.net);
}

/** A sale that was taken back, or cash for a voucher that is not redeemed, is no income. */
const hasIncome = ({ sessions, gross, refunds, fees }: Sums) =>
	[sessions, gross, refunds, fees].some((sum) => sum !== 0);

function computeFigures(sums: readonly Sums[], currency: string) {
	const sum = (name: keyof Sums) => sums.reduce((total, one) => total + one[name], 0);
	const [gross, refunds, fees] = [sum('gross'), sum('refunds'), sum('fees')];
	return {
		sessions: sum('sessions'),
		gross: toMajor(gross, currency),
		refunds: toMajor(refunds, currency),
		fees: toMajor(fees, currency),
		net: toMajor(gross - refunds - fees, currency),
		owed: toMajor(sum('owed'), currency),
		cash: toMajor(sum('cash'), currency),
		commission: toMajor(sum('commission'), currency)
	};
}

/** Amounts are in major units; those of refunds are negative, the fee too. */
function describeLine(line: Line, currency: string) {
	const sign = line.kind === 'payment' ? 1 : -1;
	const isCash = line.payment_method === VOUCHER_METHOD;
	return {
		kind: line.kind,
		at: line.at,
		paymentId: line.payment_id,
		sessionId: line.session_id,
		routerName: line.router_name,
		method: line.payment_method,
		isCash,
		phoneMasked: isCash ? null : maskPhone(line.phone),
		duration: line.duration,
		offerName: line.offer_name,
		transaction: line.transaction_id,
		amount: toMajor(sign * line.amount_minor, currency),
		fee: toMajor(sign * line.fee_minor, currency),
		net: toMajor(sign * (line.amount_minor - line.fee_minor), currency)
	};
}

/** In minor units. */
interface Sums {
	sessions: number;
	gross: number;
	/** Negative if refunds returned more than sales cost. */
	fees: number;
	refunds: number;
	/** Mobile money that the platform owes the owner, before payouts. */
	owed: number;
	/** In the owner's till. */
	cash: number;
	/** Due to sellers. */
	commission: number;
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

const selectPaymentSum = (amount: RawBuilder<unknown>) =>
	sql`sum(case kind when 'payment' then ${amount} when 'correction' then -${amount} else 0 end)`;

const AMOUNT = sql`amount_minor`;

/** Of what was paid in cash, a refund by hand comes out of the till. */
const CASH = sql`case when debit = 'till' then amount_minor
	when credit = 'till' or (credit = 'by_hand' and payment_method = 'voucher') then -amount_minor else 0 end`;

/** All figures are sums of entries. A payment counts while its session is still activating. */
const SUMS = sql`${selectPaymentSum(sql`1`)} as sessions, ${selectPaymentSum(AMOUNT)} as gross,
	sum(case when kind = 'refund' then amount_minor else 0 end) as refunds,
	sum(case 'platform' when fee_credit then fee_minor when fee_debit then -fee_minor else 0 end) as fees,
	sum(case 'owner' when credit then amount_minor - fee_minor when debit then fee_minor - amount_minor else 0 end) as owed,
	sum(${CASH}) as cash,
	sum(case 'sellers' when fee_credit then fee_minor when fee_debit then -fee_minor else 0 end) as commission`;

const KINDS = { payment: sql`('payment', 'correction')`, refund: sql`('refund')` };

function selectBooked({ accountId, currency, from, until, router, offer, method, kind, hours }: Sold) {
	const parts = hours?.map((hour) => sql`at >= ${hour.from} and at < ${hour.until}`);
	return sql`from book_entries
		where owner_account_id = ${accountId} and at >= ${from} and at < ${until} and currency = ${currency}
			and kind not in ('payout', 'payout_failed', 'payout_late')
			${router == null ? sql`` : sql`and router_id = ${router}`}
			${offer == null ? sql`` : sql`and coalesce(offer_name, '') = ${offer}`}
			${method == null ? sql`` : sql`and payment_method = ${method}`}
			${kind ? sql`and kind in ${KINDS[kind]}` : sql``}
			${parts ? sql`and (${parts.length === 0 ? sql`1 = 0` : sql.join(parts, sql` or `)})` : sql``}`;
}

/** Sums entries by columns. One statement, so that the figures are consistent. */
const selectSumsBy = (sold: Sold, keys: Readonly<Record<string, RawBuilder<unknown>>>) => sql`
	select ${sql.join(Object.entries(keys).map(([name, key]) => sql`${key} as ${sql.ref(name)}`))}, ${SUMS}
	${selectBooked(sold)} group by ${sql.join(Object.keys(keys).map((_, index) => sql.lit(index + 1)))}`;

/** Sums the payments of all routers that bought time, in minor units. */
export async function findTakings(queries: Reads, currency: string, { from, until }: TimeRange) {
	// The condition of the index.
	const { rows } = await sql<{
		sum: number | null;
	}>`select ${selectPaymentSum(AMOUNT)} as sum from book_entries
		where kind in ('payment', 'correction') and at >= ${from} and at < ${until} and currency = ${currency}`.execute(
		queries
	);
	return rows[0]?.sum ?? 0;
}

/** Sums entries per quarter of an hour, ascending. */
export async function findSumsByQuarterHour(queries: Reads, sold: Sold) {
	const at = sql`at - at % ${sql.lit(QUARTER_HOUR_MS)}`;
	const { rows } = await sql<Sums & { at: number }>`${selectSumsBy(sold, { at })} order by 1`.execute(
		queries
	);
	return rows;
}

interface PartOfSales extends Sums, Pick<Line, 'offer_name' | 'payment_method'> {
	/** Index of the part of the span. */
	part: number;
}

/** Sums entries per part of the span, name of an offer and payment method. */
export async function findSumsByPart(queries: Reads, sold: Sold, ends: readonly number[]) {
	const whens = ends.map((end, index) => sql`when at < ${end} then ${sql.lit(index)}`);
	const keys = {
		part: sql`case ${sql.join(whens, sql` `)} end`,
		offer_name: sql.ref('offer_name'),
		payment_method: sql.ref('payment_method')
	};
	const { rows } = await sql<PartOfSales>`${selectSumsBy(sold, keys)} order by 1, 2, 3`.execute(queries);
	return rows;
}

/** null: of several routers. */
type SumsOfRouter = Sums & { router_id: number | null; router_name: string | null };

/** Sums entries per router, the largest net first, those without income last. Without a limit: all that sold something. */
export async function findSumsByRouter(queries: Reads, sold: Sold, limit: number | null = null) {
	const most = limit === null ? sql`` : sql`limit ${limit}`;
	const { rows } = await sql<SumsOfRouter>`
		select sums.*, routers.name as router_name
		from (${selectSumsBy(sold, { router_id: sql.ref('router_id') })}) as sums
		left join routers on routers.id = sums.router_id
		order by (sessions = 0 and gross = 0 and refunds = 0 and fees = 0), gross - fees - refunds desc, router_id ${most}`.execute(
		queries
	);
	return rows;
}

/** A payment that bought time, or its refund. */
interface Line {
	kind: 'payment' | 'refund';
	at: number;
	amount_minor: number;
	fee_minor: number;
	payment_id: number;
	payment_method: string;
	phone: string;
	session_id: number;
	duration: string;
	/** The operator’s, of the payment. */
	transaction_id: string | null;
	/** null: time at the hourly price. */
	offer_name: string | null;
	router_name: string;
}

/** Position of a line: time, payment, and 1 for the payment or 0 for its refund. */
export type LinePosition = readonly [at: number, paymentId: number, isPayment: number];

const findPosition = ({ at, payment_id, kind }: Line): LinePosition => [
	at,
	payment_id,
	kind === 'payment' ? 1 : 0
];

/** Lists payments and refunds, without sales that were taken back. */
export async function findLines(
	queries: Reads,
	sold: Sold,
	page: { after: LinePosition | null; limit: number }
): Promise<Line[]> {
	const isPayment = sql`case kind when 'payment' then 1 else 0 end`;
	const after =
		page.after === null
			? sql``
			: sql`and at <= ${page.after[0]} and (at, source_id, ${isPayment}) < (${sql.join([...page.after])})`;
	const { rows } = await sql<Line>`
		select entry.kind, entry.at, entry.amount_minor, entry.fee_minor,
			payments.id as payment_id, payments.payment_method, payments.phone,
			payments.provider_reference as transaction_id, sessions.id as session_id, sessions.duration,
			entry.offer_name, routers.name as router_name
		from (select * ${selectBooked(sold)} and kind in ('payment', 'refund') ${after}
			and not exists (select 1 from book_entries as taken
				where taken.source_id = book_entries.source_id and taken.kind = 'correction')
			order by at desc, source_id desc, ${isPayment} desc limit ${page.limit}) as entry
		join payments on payments.id = entry.source_id
		join sessions on sessions.id = payments.session_id
		join routers on routers.id = entry.router_id
		order by entry.at desc, entry.source_id desc, ${sql`case entry.kind when 'payment' then 1 else 0 end`} desc`.execute(
		queries
	);
	return rows;
}
