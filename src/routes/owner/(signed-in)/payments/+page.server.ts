import type { LinePosition } from '#lib/server/billing/earnings/earnings.ts';
import { ownRouterOf, requireOwner } from '#lib/server/web/owner/owner.ts';
import {
	figureLines,
	hourName,
	offerLines,
	paymentsHref,
	statementHref
} from '#lib/server/web/owner/figures/figures.ts';
import { dayOf, filterFields, filterOf, periodOf } from '#lib/server/web/owner/figures/period.ts';
import { formatDuration } from '#lib/domain/duration.ts';
import { moment, money, periodName } from '#lib/format/text.ts';
import { methodTitle } from '#lib/domain/payment-methods/payment-methods.ts';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { pageLinks } from '#lib/server/web/page-links.ts';
import type { PageServerLoad } from './$types';

const PAGE_SIZE = 50;

function positionOf(text: string | null): LinePosition | null {
	const found = /^(\d{1,16})\.(\d{1,16})\.([01])$/.exec(text ?? '');
	return found ? [Number(found[1]), Number(found[2]), Number(found[3])] : null;
}

/** /owner/payments?period=&day=&router=&offer=&method=&kind=&hour=: the payments and refunds behind a sum. */
export const load: PageServerLoad = async (event) => {
	const owner = await requireOwner(event);
	const { actor } = owner;
	const { earnings, config } = event.locals.app;
	const period = periodOf(event.url.searchParams);
	const day = dayOf(event.url.searchParams, earnings.today());
	const filter = filterOf(event.url.searchParams);
	const router = filter.router == null ? null : await ownRouterOf(event, owner, filter.router);
	const after = positionOf(event.url.searchParams.get('after'));
	const [body, page] = await Promise.all([
		earnings.breakdown(actor, { period, from: day, to: day, filter }),
		earnings.lines(actor, { period, day, filter }, { after, limit: PAGE_SIZE })
	]);
	const { currency, start, end } = body;
	const filters = { period, day: start, ...filterFields(filter) };
	const next = page.next?.join('.') ?? null;
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
			id: line.paymentId,
			isRefund: line.kind === 'refund',
			when: moment(line.at, config.reportTimezone),
			router: line.routerName,
			phone: line.phoneMasked,
			bought: line.offerName ?? formatDuration(line.duration),
			amount: money(line.amount, currency),
			fee: line.fee === 0 ? '' : money(-line.fee, currency),
			net: money(line.net, currency)
		})),
		pages: pageLinks(link('/owner/payments'), filters, { parameter: 'after', at: after, next }),
		statement: period === 'monthly' ? statementHref(start) : null,
		download: link(`/owner/payments/export?${new URLSearchParams(filters).toString()}`)
	};
};
