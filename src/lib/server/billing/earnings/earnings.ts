import type { Base } from '#lib/server/base.ts';
import { toMajor } from '#lib/domain/money.ts';
import { maskPhone } from '#lib/domain/phone.ts';
import type { Caller } from '#lib/server/accounts/accounts.ts';
import type { EarningsBody } from '#lib/server/contract/schemas.ts';
import { pageOf } from '#lib/server/db/newest-first.ts';
import { binder } from '#lib/server/platform/bind.ts';
import { validationFailed } from '#lib/server/platform/errors.ts';
import { buckets, dateAt, hourAt, MAX_BUCKETS, spansOfHour, type Period } from '#lib/format/calendar.ts';
import * as store from './store.ts';

export type LinePosition = store.LinePosition;

/** Which payments and refunds of a period count; null or missing: all. */
export interface Filter extends Pick<store.Sold, 'router' | 'offer' | 'method' | 'kind'> {
	/** Of the day, 0 to 23, in the time zone of reports. */
	hour?: number | null;
}

type Owner = Pick<Caller, 'accountId'>;
interface PeriodRange {
	period: Period;
	from?: string | undefined;
	to?: string | undefined;
}
/** The period around a day, YYYY-MM-DD. */
interface Around {
	period: Period;
	day: string;
}

/** Earnings of owners, summed in minor units and returned in major units. */
export type Earnings = ReturnType<typeof createEarnings>;

export function createEarnings(base: Base) {
	const bind = binder(base);
	return {
		today: bind(today),
		lines: bind(lines),
		breakdown: bind(breakdown),
		byRouter: bind(byRouter),
		hours: bind(hours),
		takings: bind(takings),
		summary: bind(summary)
	};
}

/** YYYY-MM-DD in the time zone of reports. */
const today = ({ clock, config }: Base): string => dateAt(clock.now(), config.reportTimezone);

/** @throws AppError `validation_failed` if the span is empty or too long */
function spanOf(base: Base, period: Period, from: string | null = null, to: string | null = null) {
	const span = buckets(period, { from, to }, today(base), base.config.reportTimezone);
	const [first, last] = [span?.[0], span?.at(-1)];
	if (span && first && last) return { span, first, last };
	const detail = `Use a day that is not after "to", at most ${MAX_BUCKETS} periods before it.`;
	throw validationFailed([{ in: 'query', pointer: '/from', code: 'out_of_range', detail }]);
}

const aroundOf = (base: Base, { period, day }: Around) => spanOf(base, period, day, day).first;

/** A filter's hour of the day becomes the parts of the span in which the zone's clock shows it. */
function soldOf(
	{ config: { currency, reportTimezone } }: Base,
	{ accountId }: Owner,
	{ from, until }: { from: number; until: number },
	{ hour, ...filter }: Filter = {}
): store.Sold {
	const hours = hour == null ? null : spansOfHour(hour, { from, until }, reportTimezone);
	return { accountId, currency, from, until, ...filter, hours };
}

/** Lists the payments and refunds of the period around a day, newest first. @throws as `spanOf` */
async function lines(
	base: Base,
	owner: Owner,
	{ filter, ...of }: Around & { filter: Filter },
	{ after, limit }: { after: LinePosition | null; limit: number }
) {
	const { currency } = base.config;
	const sold = soldOf(base, owner, aroundOf(base, of), filter);
	const found = await base.database.readReplica((queries) =>
		store.lines(queries, sold, { after, limit: limit + 1 })
	);
	const positionOf = (last: store.Booked): LinePosition => [last.at, last.payment_id, last.sessions];
	const { rows, next } = pageOf(found, limit, positionOf);
	return { data: rows.map((line) => lineOf(line, currency)), next, currency };
}

/**
 * Sums few periods, each offer in them (null: time at the hourly price) and each payment method, the largest first, and
 * everything.
 * @throws as `spanOf`
 */
async function breakdown(
	base: Base,
	owner: Owner,
	{ period, from, to, filter }: PeriodRange & { filter?: Filter }
) {
	const { currency } = base.config;
	const { span, first, last } = spanOf(base, period, from, to);
	const sold = soldOf(base, owner, { from: first.from, until: last.until }, filter);
	const ends = span.map(({ until }) => until);
	const sums = await base.database.readReplica((queries) => store.sumsByPart(queries, sold, ends));
	return {
		period,
		currency,
		start: first.start,
		end: last.end,
		...figuresOfParts(span, sums, currency),
		offers: figuresByName(sums, (one) => one.offer_name, currency),
		methods: figuresByName(sums, (one) => one.payment_method, currency)
	};
}

/** Sums the periods of a span. @throws as `spanOf` */
async function summary(base: Base, owner: Owner, { period, from, to }: PeriodRange): Promise<EarningsBody> {
	const { currency, reportTimezone: timezone } = base.config;
	const { span, first, last } = spanOf(base, period, from, to);
	const sold = soldOf(base, owner, { from: first.from, until: last.until });
	const quarters = await base.database.readReplica((queries) => store.sumsByQuarterHour(queries, sold));
	// One pass: spans and quarters both ascend.
	let part = 0;
	const sums = quarters.map((quarter) => {
		while (quarter.at >= (span[part]?.until ?? Infinity)) part += 1;
		return { ...quarter, part };
	});
	return {
		...{ period, currency, timezone, from: first.start, to: last.end },
		...figuresOfParts(span, sums, currency)
	};
}

/** Sums a period's entries by router, the largest first, and all sums returned. */
async function byRouter(base: Base, owner: Owner, of: Around, limit: number | null = null) {
	const { currency } = base.config;
	const around = aroundOf(base, of);
	const sums = await base.database.readReplica((queries) =>
		store.sumsByRouter(queries, soldOf(base, owner, around), limit)
	);
	return {
		...{ currency, start: around.start, end: around.end },
		total: figures(sums, currency),
		data: sums.map((one) => ({ id: one.router_id, name: one.router_name, ...figures([one], currency) }))
	};
}

/** Sums a period's entries by the hour of the day, 0 to 23. */
async function hours(base: Base, owner: Owner, of: Around) {
	const { currency, reportTimezone } = base.config;
	const quarters = await base.database.readReplica((queries) =>
		store.sumsByQuarterHour(queries, soldOf(base, owner, aroundOf(base, of)))
	);
	const byHour = Map.groupBy(quarters, ({ at }) => hourAt(at, reportTimezone));
	return Array.from({ length: 24 }, (_, hour) => ({ hour, ...figures(byHour.get(hour) ?? [], currency) }));
}

/** Sums what all routers have taken in the present period, before refunds, in major units. */
async function takings(base: Base, period: Period): Promise<number> {
	const { currency } = base.config;
	const { first } = spanOf(base, period, today(base));
	return toMajor(
		await base.database.readReplica((queries) => store.takings(queries, currency, first)),
		currency
	);
}

/** @param sums with the index of their part of the span */
function figuresOfParts(
	span: readonly { start: string; end: string }[],
	sums: readonly (store.Sums & { part: number })[],
	currency: string
) {
	const byPart = Map.groupBy(sums, ({ part }) => part);
	return {
		total: figures(sums, currency),
		data: span.map(({ start, end }, part) => ({ start, end, ...figures(byPart.get(part) ?? [], currency) }))
	};
}

function figuresByName<One extends store.Sums, Name>(
	sums: readonly One[],
	nameOf: (one: One) => Name,
	currency: string
) {
	return [...Map.groupBy(sums, nameOf)]
		.map(([name, ofName]) => ({ name, ...figures(ofName, currency) }))
		.sort((one, other) => other.net - one.net);
}

function figures(sums: readonly store.Sums[], currency: string) {
	const sum = (name: keyof store.Sums) => sums.reduce((total, one) => total + one[name], 0);
	const [gross, refunds, fees] = [sum('gross'), sum('refunds'), sum('fees')];
	return {
		sessions: sum('sessions'),
		gross: toMajor(gross, currency),
		refunds: toMajor(refunds, currency),
		fees: toMajor(fees, currency),
		net: toMajor(gross - refunds - fees, currency)
	};
}

/** A payment that bought time, or its refund. Amounts are in major units; refunds are negative. */
function lineOf(line: store.Booked, currency: string) {
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
