import type { Period } from '#lib/format/calendar.ts';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import type { EarningsBody } from '#lib/server/api/contract/schemas.ts';
import { numberText } from '#lib/i18n/intl.ts';
import { money } from '#lib/format/text.ts';

type Sums = EarningsBody['total'];

/** Lines that add up: payments − refunds − fee. */
export const figureLines = (sums: Sums, currency: string): (readonly [string, string])[] => [
	[m.owner_paid(), money(sums.gross, currency)],
	...(sums.refunds > 0 ? [[m.owner_refunded(), money(-sums.refunds, currency)] as const] : []),
	[m.owner_fee(), money(-sums.fees, currency)],
	[m.owner_payments_count(), numberText(sums.sessions)]
];

export const paymentsHref = (period: Period, day: string) =>
	link(`/owner/payments?period=${period}&day=${day}`);

export const isEmpty = (sums: Sums) => sums.sessions === 0 && sums.refunds === 0;

export const figuresOf = (
	{ period, currency }: EarningsBody,
	bucket: EarningsBody['data'][number],
	name: string
) => ({
	name,
	net: money(bucket.net, currency),
	lines: figureLines(bucket, currency),
	/** False without payments. */
	any: !isEmpty(bucket),
	href: paymentsHref(period, bucket.start)
});

/** Lines that add up to the total: each offer, and time at the hourly price. Empty without sales of offers. */
export const offerLines = (
	sums: readonly (Sums & { name: string | null })[],
	currency: string
): { name: string; count: string; net: string }[] =>
	sums.every(({ name }) => name === null)
		? []
		: sums.map(({ name, sessions, net }) => ({
				name: name ?? m.owner_offers_by_hour(),
				count: numberText(sessions),
				net: money(net, currency)
			}));
