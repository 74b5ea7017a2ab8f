import type { Period } from '#lib/domain/time/calendar.ts';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import type { EarningsBody } from '#lib/server/contract/owner.ts';
import type { Filter } from '#lib/server/billing/earnings.ts';
import { apart, numberText } from '#lib/i18n/intl.ts';
import { money } from '#lib/format/text.ts';
import { filterFields } from './period.ts';

type Sums = EarningsBody['total'];

/** Lines that add up: payments − refunds − fee. */
export const figureLines = (
	sums: Sums,
	currency: string,
	hrefOf: (kind?: 'payment' | 'refund') => string | undefined = () => undefined
): (readonly [string, string, (string | undefined)?])[] => [
	[m.owner_paid(), money(sums.gross, currency), hrefOf('payment')],
	...(sums.refunds > 0
		? [[m.owner_refunded(), money(-sums.refunds, currency), hrefOf('refund')] as const]
		: []),
	...(sums.fees !== 0 ? [[m.owner_fee(), money(-sums.fees, currency), hrefOf()] as const] : []),
	[m.owner_payments_count(), numberText(sums.sessions), hrefOf('payment')]
];

export const paymentsHref = (period: Period, day: string, filter: Filter = {}) =>
	link(`/owner/payments?${new URLSearchParams({ period, day, ...filterFields(filter) }).toString()}`);

export const statementHref = (day: string) =>
	link(`/owner/earnings/statement?${new URLSearchParams({ day }).toString()}`);

export const isEmpty = (sums: Sums) => sums.sessions === 0 && sums.refunds === 0;

export const sumLine = (name: string, { sessions, net }: Sums, currency: string) => ({
	name,
	count: numberText(sessions),
	net: money(net, currency)
});

/** Lines that add up to the total: each offer, and time at the hourly price. Empty without sales of offers. */
export const offerLines = (sums: readonly (Sums & { name: string | null })[], currency: string) =>
	sums.every(({ name }) => name === null)
		? []
		: sums.map((one) => ({
				...sumLine(one.name ?? m.owner_offers_by_hour(), one, currency),
				offer: one.name ?? ''
			}));

/** Names an hour of the day: "17:00–18:00". */
export const hourName = (hour: number) => apart(`${hour}:00–${hour + 1}:00`);
