import { toMajor } from '#lib/domain/money.ts';
import { maskPhone } from '#lib/domain/phone.ts';
import type { Caller } from '#lib/server/developer/api-keys/api-keys.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Config } from '#lib/server/config/config.ts';
import type { EarningsBody } from '#lib/server/api/contract/schemas.ts';
import type { Database } from '#lib/server/db/database.ts';
import { validationFailed } from '#lib/server/platform/errors.ts';
import { buckets, dateAt, hourAt, MAX_BUCKETS, spansOfHour, type Period } from '#lib/format/calendar.ts';
import * as store from './store.ts';

export type LinePlace = store.LinePlace;

/** Which payments and refunds of a period count; null or missing: all. */
export interface Filter extends Pick<store.Sold, 'router' | 'offer' | 'method' | 'kind'> {
	/** Of the day, 0 to 23, in the time zone of reports. */
	hour?: number | null;
}

/** Earnings of owners, summed in minor units and returned in major units. */
export type Earnings = ReturnType<typeof createEarnings>;

export function createEarnings(database: Database, clock: Clock, config: Config) {
	const { currency, reportTimezone: timezone } = config;
	const today = () => dateAt(clock.now(), timezone);

	function spanOf(period: Period, from: string | null, to: string | null) {
		const span = buckets(period, { from, to }, today(), timezone);
		const [first, last] = [span?.[0], span?.at(-1)];
		if (span && first && last) return { span, first, last };
		const detail = `Use a day that is not after "to", at most ${MAX_BUCKETS} periods before it.`;
		throw validationFailed([{ in: 'query', pointer: '/from', code: 'out_of_range', detail }]);
	}

	/** A filter's hour of the day becomes the parts of the span in which the zone's clock shows it. */
	function soldOf(
		{ accountId }: Pick<Caller, 'accountId'>,
		{ hour, ...filter }: Filter,
		{ from, until }: { from: number; until: number }
	): store.Sold {
		const hours = hour == null ? null : spansOfHour(hour, { from, until }, timezone);
		return { accountId, currency, from, until, ...filter, hours };
	}

	return {
		/** YYYY-MM-DD in the time zone of reports. */
		today,
		/**
		 * Lists the payments and refunds of the period around `of.day` (YYYY-MM-DD), newest first.
		 * @throws AppError `validation_failed` if the period does not exist
		 */
		async lines(
			caller: Pick<Caller, 'accountId'>,
			of: { period: Period; day: string; filter: Filter },
			{ after, limit }: { after: LinePlace | null; limit: number }
		) {
			const { first } = spanOf(of.period, of.day, of.day);
			const sold = soldOf(caller, of.filter, first);
			const found = await store.lines(database.db, sold, { after, limit: limit + 1 });
			const page = found.slice(0, limit);
			const last = page.at(-1);
			const next: LinePlace | null =
				found.length > limit && last ? [last.at, last.payment_id, last.sessions] : null;
			return { data: page.map((line) => lineOf(line, currency)), next, currency };
		},
		/**
		 * Sums few periods, each offer in them (null: time at the hourly price; the largest first), and everything.
		 * @throws AppError `validation_failed` if the span is empty or too long
		 */
		async report(
			caller: Pick<Caller, 'accountId'>,
			query: { period: Period; from?: string; to?: string; filter?: Filter }
		) {
			const { period, from = null, to = null, filter = {} } = query;
			const { span, first, last } = spanOf(period, from, to);
			const sold = soldOf(caller, filter, { from: first.from, until: last.until });
			const ends = span.map(({ until }) => until);
			const sums = await store.sumsByPart(database.db, sold, ends);
			const byOffer = Map.groupBy(sums, (one) => one.offer_name);
			return {
				...{ period, currency, start: first.start, end: last.end },
				total: figures(sums, currency),
				data: span.map(({ start, end }, index) => ({
					...{ start, end },
					...figures(
						sums.filter(({ part }) => part === index),
						currency
					)
				})),
				offers: [...byOffer]
					.map(([name, ofOffer]) => ({ name, ...figures(ofOffer, currency) }))
					.sort((one, other) => other.net - one.net)
			};
		},
		/**
		 * Sums a period's entries by router or payment method, the largest first, and all sums returned. `key` is the
		 * value of the filter.
		 */
		async groups(
			caller: Pick<Caller, 'accountId'>,
			of: { period: Period; day: string },
			group: { by: 'router' | 'method'; limit?: number }
		) {
			const { first } = spanOf(of.period, of.day, of.day);
			const sums = await store.sumsBy(database.db, soldOf(caller, {}, first), group);
			return {
				...{ currency, start: first.start, end: first.end },
				total: figures(sums, currency),
				data: sums.map((one) => ({ key: one.group_key, name: one.name, ...figures([one], currency) }))
			};
		},
		/** Sums a period's entries by the hour of the day, 0 to 23. */
		async hours(caller: Pick<Caller, 'accountId'>, of: { period: Period; day: string }) {
			const sold = soldOf(caller, {}, spanOf(of.period, of.day, of.day).first);
			const quarters = await store.sumsByQuarterHour(database.db, sold);
			const byHour = Map.groupBy(quarters, ({ at }) => hourAt(at, timezone));
			return Array.from({ length: 24 }, (_, hour) => ({
				hour,
				...figures(byHour.get(hour) ?? [], currency)
			}));
		},
		/** Sums what all routers have taken in the present period, before refunds, in major units. */
		async takings(period: Period): Promise<number> {
			const { first } = spanOf(period, today(), null);
			return toMajor(await store.takings(database.db, currency, first), currency);
		},
		/** @throws AppError `validation_failed` if the span is empty or too long */
		async summary(
			{ accountId }: Pick<Caller, 'accountId'>,
			query: { period: Period; from?: string | undefined; to?: string | undefined }
		): Promise<EarningsBody> {
			const { period, from = null, to = null } = query;
			const { span, first, last } = spanOf(period, from, to);
			const sold = { accountId, currency, from: first.from, until: last.until };
			const quarters = await store.sumsByQuarterHour(database.db, sold);
			// One pass: spans and quarters both ascend.
			let next = 0;
			const quartersUntil = (until: number) => {
				const begin = next;
				while ((quarters[next]?.at ?? Infinity) < until) next += 1;
				return quarters.slice(begin, next);
			};
			return {
				...{ period, currency, timezone, from: first.start, to: last.end },
				total: figures(quarters, currency),
				data: span.map(({ start, end, until }) => ({
					start,
					end,
					...figures(quartersUntil(until), currency)
				}))
			};
		}
	};
}

function figures(quarters: readonly store.Sums[], currency: string) {
	const sum = (name: keyof store.Sums) => quarters.reduce((total, one) => total + one[name], 0);
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
		amount: toMajor(amount, currency),
		fee: toMajor(line.fees, currency),
		net: toMajor(amount - line.fees, currency)
	};
}
