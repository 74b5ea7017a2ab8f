import { toMajor } from '../../money.ts';
import type { Caller } from '../api-keys/api-keys.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { EarningsBody } from '../contract/schemas.ts';
import type { Database } from '../db/database.ts';
import { validationFailed } from '../errors.ts';
import { buckets, dateAt, MAX_BUCKETS, type Bucket, type Period } from '../../calendar.ts';
import * as store from './store.ts';

/** What an owner earned. Amounts are summed in minor units and leave as major ones. */
export interface Earnings {
	/** @throws AppError `validation_failed` when the span is empty or too long */
	summary(
		caller: Caller,
		query: { period: Period; from?: string | undefined; to?: string | undefined }
	): Promise<EarningsBody>;
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

	return {
		async summary(caller, { period, from = null, to = null }) {
			const span = buckets(period, { from, to }, dateAt(clock.now(), timezone), timezone);
			const first = span?.[0];
			const last = span?.at(-1);
			if (!span || !first || !last) {
				throw validationFailed([
					{
						in: 'query',
						pointer: '/from',
						code: 'out_of_range',
						detail: `Use a day that is not after "to", at most ${MAX_BUCKETS} periods before it.`
					}
				]);
			}
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

const none = (): store.Sums => ({ sessions: 0, gross: 0, refunds: 0, fees: 0 });

function add(total: store.Sums, more: store.Sums): void {
	total.sessions += more.sessions;
	total.gross += more.gross;
	total.refunds += more.refunds;
	total.fees += more.fees;
}

/** The sums of each bucket; buckets and quarters of an hour both ascend. */
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
