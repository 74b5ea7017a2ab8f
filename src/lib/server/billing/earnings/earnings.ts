import type { Base } from '#lib/server/base.ts';
import { toMajor } from '#lib/domain/money.ts';
import { maskPhone } from '#lib/domain/phone.ts';
import type { Caller } from '#lib/server/accounts/accounts.ts';
import type { EarningsBody } from '#lib/server/contract/schemas.ts';
import type { Queries } from '#lib/server/db/database.ts';
import { pageOf } from '#lib/server/db/newest-first.ts';
import { binder } from '#lib/server/platform/bind.ts';
import { validationFailed } from '#lib/server/platform/errors.ts';
import { buckets, dateAt, hourAt, MAX_BUCKETS, spansOfHour, type Period } from '#lib/domain/time/calendar.ts';
import * as store from './store.ts';

export type LinePosition = store.LinePosition;

/** Which payments and refunds of a period count; null or missing: all. */
export interface Filter extends Pick<store.Sold, 'router' | 'offer' | 'method' | 'kind'> {
	/** Of the day, 0 to 23, in the time zone of reports. */
	hour?: number | null;
}

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
function spanOf(base: Base, { period, day, from = day, to = day }: Asked) {
	const asked = { from: from ?? null, to: to ?? null };
	const parts = buckets(period, asked, today(base), base.config.reportTimezone);
	const [first, last] = [parts?.[0], parts?.at(-1)];
	if (parts && first && last) {
		return { parts, start: first.start, end: last.end, from: first.from, until: last.until };
	}
	const detail = `Use a day that is not after "to", at most ${MAX_BUCKETS} periods before it.`;
	throw validationFailed([{ in: 'query', pointer: '/from', code: 'out_of_range', detail }]);
}

/** Reads what is asked for. @throws as `spanOf` */
async function read<Row>(
	base: Base,
	{ accountId }: Owner,
	of: Asked,
	rowsOf: (queries: Queries, sold: store.Sold, ends: number[]) => Promise<Row[]>
) {
	const { currency, reportTimezone } = base.config;
	const { hour, ...filter }: Filter = of.filter ?? {};
	const { from, until, ...span } = spanOf(base, of);
	// The parts of the span in which the zone's clock shows the hour.
	const hours = hour == null ? null : spansOfHour(hour, { from, until }, reportTimezone);
	const sold = { accountId, currency, from, until, ...filter, hours };
	const ends = span.parts.map((part) => part.until);
	return { ...span, rows: await rowsOf(base.database.db, sold, ends) };
}

/** Lists the payments and refunds of a span, newest first. @throws as `spanOf` */
async function lines(
	base: Base,
	owner: Owner,
	of: Asked,
	{ after, limit }: { after: LinePosition | null; limit: number }
) {
	const { currency } = base.config;
	const { rows: found } = await read(base, owner, of, (queries, sold) =>
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
async function breakdown(base: Base, owner: Owner, of: Asked) {
	const { currency } = base.config;
	const { parts, start, end, rows: sums } = await read(base, owner, of, store.sumsByPart);
	return {
		...{ period: of.period, currency, start, end },
		...figuresOfParts(parts, sums, currency),
		offers: figuresByName(sums, (one) => one.offer_name, currency),
		methods: figuresByName(sums, (one) => one.payment_method, currency)
	};
}

/** Sums the periods of a span. @throws as `spanOf` */
async function summary(base: Base, owner: Owner, of: Asked): Promise<EarningsBody> {
	const { currency, reportTimezone: timezone } = base.config;
	const { parts, start, end, rows: quarters } = await read(base, owner, of, store.sumsByQuarterHour);
	// One pass: parts and quarters both ascend.
	let part = 0;
	const sums = quarters.map((quarter) => {
		while (quarter.at >= (parts[part]?.until ?? Infinity)) part += 1;
		return { ...quarter, part };
	});
	return {
		...{ period: of.period, currency, timezone, from: start, to: end },
		...figuresOfParts(parts, sums, currency)
	};
}

/** Sums a period's entries by router, the largest first, and all sums returned. */
async function byRouter(base: Base, owner: Owner, of: Asked, limit: number | null = null) {
	const { currency } = base.config;
	const { start, end, rows } = await read(base, owner, of, (queries, sold) =>
		store.sumsByRouter(queries, sold, limit)
	);
	return {
		...{ currency, start, end },
		total: figures(rows, currency),
		data: rows.map((one) => ({ id: one.router_id, name: one.router_name, ...figures([one], currency) }))
	};
}

/** Sums a period's entries by the hour of the day, 0 to 23. */
async function hours(base: Base, owner: Owner, of: Asked) {
	const { currency, reportTimezone } = base.config;
	const { rows } = await read(base, owner, of, store.sumsByQuarterHour);
	const byHour = Map.groupBy(rows, ({ at }) => hourAt(at, reportTimezone));
	return Array.from({ length: 24 }, (_, hour) => ({ hour, ...figures(byHour.get(hour) ?? [], currency) }));
}

/** Sums what all routers have taken in the present period, before refunds, in major units. */
async function takings(base: Base, period: Period): Promise<number> {
	const { currency } = base.config;
	const span = spanOf(base, { period, day: today(base) });
	const taken = await store.takings(base.database.db, currency, span);
	return toMajor(taken, currency);
}

/** @param sums with the index of their part of the span */
function figuresOfParts(
	parts: readonly { start: string; end: string }[],
	sums: readonly (store.Sums & { part: number })[],
	currency: string
) {
	const byPart = Map.groupBy(sums, ({ part }) => part);
	return {
		total: figures(sums, currency),
		data: parts.map(({ start, end }, part) => ({ start, end, ...figures(byPart.get(part) ?? [], currency) }))
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
