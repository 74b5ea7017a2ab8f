import type { Period } from '#lib/format/calendar.ts';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import type { EarningsBody } from '#lib/server/api/contract/schemas.ts';
import { count, money, periodName } from './words.ts';

/** A sum with its parts and the address of its payments. */
export interface Figures {
	name: string;
	net: string;
	lines: [string, string][];
	/** False if there are no payments. */
	any: boolean;
	href: string;
}

type Sums = EarningsBody['total'];

/** Lines that add up: payments − refunds − fee. */
export const figureLines = (sums: Sums, currency: string): [string, string][] => [
	[m.owner_paid(), money(sums.gross, currency)],
	...(sums.refunds > 0 ? [[m.owner_refunded(), money(-sums.refunds, currency)] as [string, string]] : []),
	[m.owner_fee(), money(-sums.fees, currency)],
	[m.owner_payments_count(), count(sums.sessions)]
];

export const paymentsHref = (period: Period, day: string) =>
	link(`/owner/payments?period=${period}&day=${day}`);

export const isEmpty = (sums: Sums) => sums.sessions === 0 && sums.refunds === 0;

/** Makes the figures of one day, week or month. */
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
