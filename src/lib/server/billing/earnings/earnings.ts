import { toMajor } from '#lib/domain/money.ts';
import { maskPhone } from '#lib/domain/phone.ts';
import type { Caller } from '#lib/server/developer/api-keys/api-keys.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Config } from '#lib/server/config/config.ts';
import type { EarningsBody } from '#lib/server/api/contract/schemas.ts';
import type { Database } from '#lib/server/db/database.ts';
import { validationFailed } from '#lib/server/platform/errors.ts';
import { buckets, dateAt, MAX_BUCKETS, type Period } from '#lib/format/calendar.ts';
import * as store from './store.ts';

export type LinePlace = store.LinePlace;

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

	return {
		/** YYYY-MM-DD in the time zone of reports. */
		today,
		/**
		 * Lists the payments and refunds of the period around `of.day` (YYYY-MM-DD), newest first.
		 * @throws AppError `validation_failed` if the period does not exist
		 */
		async lines(
			{ accountId }: Pick<Caller, 'accountId'>,
			of: { period: Period; day: string },
			{ after, limit }: { after: LinePlace | null; limit: number }
		) {
			const { start, end, from, until } = spanOf(of.period, of.day, of.day).first;
			const owner = { accountId, currency };
			const found = await store.lines(database.db, owner, { from, until }, { after, limit: limit + 1 });
			const page = found.slice(0, limit);
			const last = page.at(-1);
			const next: LinePlace | null =
				found.length > limit && last ? [last.at, last.payment_id, last.sessions] : null;
			return { data: page.map((line) => lineOf(line, currency)), next, currency, start, end };
		},
		/**
		 * Sums the same span as `summary` by offer, the largest first. `name` is null for time at the hourly price.
		 * @throws AppError `validation_failed` if the span is empty or too long
		 */
		async byOffer(
			{ accountId }: Pick<Caller, 'accountId'>,
			query: { period: Period; from?: string; to?: string }
		) {
			const { period, from = null, to = null } = query;
			const { first, last } = spanOf(period, from, to);
			const bounds = { from: first.from, until: last.until };
			const sums = await store.sumsByOffer(database.db, { accountId, currency }, bounds);
			return sums.map((one) => ({ name: one.offer_name, ...figures([one], currency) }));
		},
		/** @throws AppError `validation_failed` if the span is empty or too long */
		async summary(
			{ accountId }: Pick<Caller, 'accountId'>,
			query: { period: Period; from?: string | undefined; to?: string | undefined }
		): Promise<EarningsBody> {
			const { period, from = null, to = null } = query;
			const { span, first, last } = spanOf(period, from, to);
			const owner = { accountId, currency };
			const bounds = { from: first.from, until: last.until };
			const quarters = await store.sumsByQuarterHour(database.db, owner, bounds);
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
