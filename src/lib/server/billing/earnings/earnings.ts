import { toMajor } from '#lib/domain/money.ts';
import { maskPhone } from '#lib/domain/phone.ts';
import type { Caller } from '#lib/server/developer/api-keys/api-keys.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Config } from '#lib/server/config/config.ts';
import type { EarningsBody } from '#lib/server/api/contract/schemas.ts';
import type { Database } from '#lib/server/db/database.ts';
import { validationFailed } from '#lib/server/platform/errors.ts';
import { buckets, dateAt, MAX_BUCKETS, type Bucket, type Period } from '#lib/format/calendar.ts';
import * as store from './store.ts';

/** Earnings of owners. Amounts are summed in minor units and returned in major units. */
export interface Earnings {
	/** @throws AppError `validation_failed` if the span is empty or too long */
	summary(
		caller: Pick<Caller, 'accountId'>,
		query: { period: Period; from?: string | undefined; to?: string | undefined }
	): Promise<EarningsBody>;
	/**
	 * Lists the payments and refunds behind a figure: those of one day, week or month, newest first.
	 * @param of the period, and a day in it (YYYY-MM-DD)
	 * @throws AppError `validation_failed` if the period does not exist
	 */
	lines(
		caller: Pick<Caller, 'accountId'>,
		of: { period: Period; day: string },
		page: { after: LinePlace | null; limit: number }
	): Promise<LinePage>;
	/** Today in the time zone of reports: YYYY-MM-DD. */
	today(): string;
}

export type LinePlace = store.LinePlace;

/** A payment that bought time, or its refund. Amounts are in major units; those of refunds are negative. */
export interface EarningsLine {
	kind: 'payment' | 'refund';
	/** Epoch milliseconds */
	at: number;
	paymentId: number;
	sessionId: number;
	routerName: string;
	phoneMasked: string;
	duration: string;
	amount: number;
	fee: number;
	net: number;
}

export interface LinePage {
	data: EarningsLine[];
	next: LinePlace | null;
	currency: string;
	/** First and last day of the period. */
	start: string;
	end: string;
}

export function createEarnings(database: Database, clock: Clock, config: Config): Earnings {
	const { currency, reportTimezone: timezone } = config;
	const figures = ({ sessions, gross, refunds, fees }: store.Sums) => ({
		sessions,
		gross: toMajor(gross, currency),
		refunds: toMajor(refunds, currency),
		fees: toMajor(fees, currency),
		net: toMajor(gross - refunds - fees, currency)
	});

	/** @throws AppError `validation_failed` */
	function spanOf(period: Period, from: string | null, to: string | null): [Bucket, ...Bucket[]] {
		const [first, ...more] = buckets(period, { from, to }, dateAt(clock.now(), timezone), timezone) ?? [];
		if (first) return [first, ...more];
		throw validationFailed([
			{
				in: 'query',
				pointer: '/from',
				code: 'out_of_range',
				detail: `Use a day that is not after "to", at most ${MAX_BUCKETS} periods before it.`
			}
		]);
	}

	return {
		today: () => dateAt(clock.now(), timezone),
		async lines({ accountId }, { period, day }, { after, limit }) {
			const [{ start, end, from, until }] = spanOf(period, day, day);
			const owner = { accountId, currency };
			const found = await store.lines(database.db, owner, { from, until }, { after, limit: limit + 1 });
			const page = found.slice(0, limit);
			const last = page.at(-1);
			return {
				data: page.map((line) => lineOf(line, currency)),
				next: found.length > limit && last ? [last.at, last.payment_id, last.sessions] : null,
				currency,
				start,
				end
			};
		},
		async summary(caller, { period, from = null, to = null }) {
			const span = spanOf(period, from, to);
			const [first] = span;
			const last = span.at(-1) ?? first;
			const owner = { accountId: caller.accountId, currency };
			const quarters = await store.sumsByQuarterHour(database.db, owner, {
				from: first.from,
				until: last.until
			});
			const sums = sumsOf(span, quarters);
			const total = none();
			for (const sum of sums) add(total, sum);
			return {
				period,
				currency,
				timezone,
				from: first.start,
				to: last.end,
				total: figures(total),
				data: span.map(({ start, end }, index) => ({
					start,
					end,
					...figures(sums[index] ?? none())
				}))
			};
		}
	};
}

function lineOf(line: store.Booked, currency: string): EarningsLine {
	const amount = line.gross - line.refunds;
	return {
		kind: line.sessions > 0 ? 'payment' : 'refund',
		at: line.at,
		paymentId: line.payment_id,
		sessionId: line.session_id,
		routerName: line.router_name,
		phoneMasked: maskPhone(line.phone),
		duration: line.duration,
		amount: toMajor(amount, currency),
		fee: toMajor(line.fees, currency),
		net: toMajor(amount - line.fees, currency)
	};
}

const none = (): store.Sums => ({ sessions: 0, gross: 0, refunds: 0, fees: 0 });

function add(total: store.Sums, more: store.Sums): void {
	total.sessions += more.sessions;
	total.gross += more.gross;
	total.refunds += more.refunds;
	total.fees += more.fees;
}

/** Sums quarters of an hour into buckets. Both ascend. */
function sumsOf(span: readonly Bucket[], quarters: readonly (store.Sums & { at: number })[]): store.Sums[] {
	let next = 0;
	return span.map(({ until }) => {
		const sums = none();
		for (let quarter = quarters[next]; quarter && quarter.at < until; quarter = quarters[next]) {
			add(sums, quarter);
			next += 1;
		}
		return sums;
	});
}
