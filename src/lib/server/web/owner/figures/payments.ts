import type { RequestEvent } from '@sveltejs/kit';
import { formatDuration } from '#lib/domain/duration.ts';
import { methodTitle } from '#lib/domain/payment-methods/payment-methods.ts';
import { timeAt } from '#lib/domain/time/calendar.ts';
import { moment, money, periodName } from '#lib/format/text.ts';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import type { Earnings, LinePosition } from '#lib/server/billing/earnings.ts';
import { CSV_BATCH, csvResponse, type CsvCell } from '../../csv.ts';
import { PAGE_SIZE, readPage } from '../../page-links.ts';
import { ownRouterOf, type OwnerVisitor } from '../owner.ts';
import { figureLines, hourName, offerLines, paymentsHref, statementHref } from './figures.ts';
import { dayOf, filterFields, filterOf, periodOf } from './period.ts';

/** Reads the period and the filter of an address. */
const askedOf = ({ url: { searchParams }, locals: { app } }: RequestEvent) => ({
	period: periodOf(searchParams),
	day: dayOf(searchParams, app.earnings.today()),
	filter: filterOf(searchParams)
});

export async function paymentsPage(event: RequestEvent, owner: OwnerVisitor) {
	const { earnings, config } = event.locals.app;
	const asked = askedOf(event);
	const { period, day, filter } = asked;
	const router = filter.router == null ? null : await ownRouterOf(event, owner, filter.router);
	const filters = { period, day, ...filterFields(filter) };
	const [body, page] = await Promise.all([
		earnings.breakdown(owner.actor, { period, from: day, to: day, filter }),
		readPage(event, { parameter: 'after', length: 3, filters }, (at) => {
			// PostgreSQL refuses a large number in place of 0 or 1.
			const after = at && ([at[0], at[1], Math.min(at[2], 1)] as const);
			return earnings.lines(owner.actor, asked, { after, limit: PAGE_SIZE });
		})
	]);
	const { currency, start, end } = body;
	return {
		name: periodName(period, start, end),
		only: [
			router?.name,
			filter.offer === '' ? m.owner_offers_by_hour() : filter.offer,
			filter.method == null ? null : methodTitle(filter.method),
			filter.hour == null ? null : hourName(filter.hour),
			filter.kind && { payment: m.owner_payments_count(), refund: m.owner_refunded() }[filter.kind]
		].filter((name) => name != null),
		all: paymentsHref(period, start),
		net: money(body.total.net, currency),
		sums: figureLines(body.total, currency),
		offers: offerLines(body.offers, currency),
		rows: page.data.map((line) => ({
			title: (line.kind === 'refund' ? m.owner_refund_of : m.owner_payment)({ number: `${line.paymentId}` }),
			when: moment(line.at, config.reportTimezone),
			router: line.routerName,
			phone: line.phoneMasked,
			bought: line.offerName ?? formatDuration(line.duration),
			figures: [money(line.amount, currency), line.fee === 0 ? '' : money(-line.fee, currency)],
			net: money(line.net, currency)
		})),
		pages: page.pages,
		statement: period === 'monthly' ? statementHref(start) : null,
		download: link(`/owner/payments/export?${new URLSearchParams({ ...filters, day: start }).toString()}`)
	};
}

/** Not translated, so that one program reads the files of all owners. */
const columnsOf = (timeZone: string) => [
	...[`Time (${timeZone})`, 'Time (UTC)', 'Kind', 'Payment', 'Session', 'Router', 'Phone'],
	...['Duration', 'Offer', 'Amount', 'Fee', 'Net', 'Currency', 'Transaction ID']
];

function rowsOf({ data, currency }: Awaited<ReturnType<Earnings['lines']>>, timeZone: string): CsvCell[][] {
	return data.map((line) => {
		const { kind, paymentId, sessionId, routerName, phoneMasked, duration, offerName, transaction } = line;
		const sale = [kind, paymentId, sessionId, routerName, phoneMasked, duration, offerName ?? ''];
		const times = [timeAt(line.at, timeZone), new Date(line.at).toISOString()];
		return [...times, ...sale, line.amount, line.fee, line.net, currency, transaction ?? ''];
	});
}

export function paymentsFile(event: RequestEvent, { actor }: OwnerVisitor): Response {
	const { earnings, config } = event.locals.app;
	const zone = config.reportTimezone;
	const asked = askedOf(event);
	return csvResponse(
		`airtill-${asked.period}-${asked.day}.csv`,
		columnsOf(zone),
		(after: LinePosition | null) => earnings.lines(actor, asked, { after, limit: CSV_BATCH }),
		(page) => rowsOf(page, zone)
	);
}
