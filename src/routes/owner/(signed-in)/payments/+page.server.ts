import type { LinePlace } from '#lib/server/billing/earnings/earnings.ts';
import { requireOwner } from '#lib/server/web/owner/owner.ts';
import { figureLines, offerLines } from '#lib/server/web/owner/figures.ts';
import { dayOf, periodOf } from '#lib/server/web/owner/period.ts';
import { formatDuration } from '#lib/domain/duration.ts';
import { moment, money, periodName } from '#lib/format/text.ts';
import { link } from '#lib/i18n/current.ts';
import { pageLinks } from '#lib/server/web/page-links.ts';
import type { PageServerLoad } from './$types';

const PAGE_SIZE = 50;

function placeOf(text: string | null): LinePlace | null {
	const found = /^(\d{1,16})\.(\d{1,16})\.([01])$/.exec(text ?? '');
	return found ? [Number(found[1]), Number(found[2]), Number(found[3])] : null;
}

/** /owner/payments?period=&day=: the payments and refunds behind a sum. */
export const load: PageServerLoad = async (event) => {
	const { actor } = await requireOwner(event);
	const { earnings, config } = event.locals.app;
	const period = periodOf(event.url.searchParams);
	const day = dayOf(event.url.searchParams, earnings.today());
	const after = placeOf(event.url.searchParams.get('after'));
	const [body, byOffer, page] = await Promise.all([
		earnings.summary(actor, { period, from: day, to: day }),
		earnings.byOffer(actor, { period, from: day, to: day }),
		earnings.lines(actor, { period, day }, { after, limit: PAGE_SIZE })
	]);
	const { currency } = page;
	const filters = { period, day: page.start };
	const next = page.next?.join('.') ?? null;
	return {
		name: periodName(period, page.start, page.end),
		net: money(body.total.net, currency),
		sums: figureLines(body.total, currency),
		offers: offerLines(byOffer, currency),
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
		download: link(`/owner/payments/export?period=${period}&day=${page.start}`)
	};
};
