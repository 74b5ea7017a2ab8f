import type { Period } from '#lib/format/calendar.ts';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import type { EarningsBody } from '#lib/server/api/contract/schemas.ts';
import { count, money, periodName } from './words.ts';

/** A sum as it is shown: what the owner gets, what it is made of, and where every payment of it is listed. */
export interface Figures {
	name: string;
	net: string;
	lines: [string, string][];
	/** Whether anything is booked at all. */
	any: boolean;
	href: string;
}

type Sums = EarningsBody['total'];

/** The sum in lines that add up: paid − given back − fee. */
export const figureLines = (sums: Sums, currency: string): [string, string][] => [
	[m.owner_paid(), money(sums.gross, currency)],
	...(sums.refunds > 0 ? [[m.owner_refunded(), money(-sums.refunds, currency)] as [string, string]] : []),
	[m.owner_fee(), money(-sums.fees, currency)],
	[m.owner_payments_count(), count(sums.sessions)]
];

export const paymentsHref = (period: Period, day: string) =>
	link(`/owner/payments?period=${period}&day=${day}`);

export const isEmpty = (sums: Sums) => sums.sessions === 0 && sums.refunds === 0;

/** The figures of one bucket of a report. */
export function figuresOf(
	{ period, currency }: EarningsBody,
	bucket: EarningsBody['data'][number],
	name = periodName(period, bucket.start, bucket.end)
): Figures {
	return {
		name,
		net: money(bucket.net, currency),
		lines: figureLines(bucket, currency),
		any: !isEmpty(bucket),
		href: paymentsHref(period, bucket.start)
	};
}
