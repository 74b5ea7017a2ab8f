import { requireOwner } from '#lib/server/web/owner/owner.ts';
import { figureLines, isEmpty, offerLines, paymentsHref } from '#lib/server/web/owner/figures/figures.ts';
import { periodOf } from '#lib/server/web/owner/figures/period.ts';
import { money, periodName } from '#lib/format/text.ts';
import type { PageServerLoad } from './$types';

/** /owner/earnings?period=: the last 30 days, 12 weeks or 12 months, with links to their payments. */
export const load: PageServerLoad = async (event) => {
	const { actor } = await requireOwner(event);
	const period = periodOf(event.url.searchParams);
	const body = await event.locals.app.earnings.breakdown(actor, { period });
	return {
		period,
		net: money(body.total.net, body.currency),
		lines: figureLines(body.total, body.currency),
		any: !isEmpty(body.total),
		offers: offerLines(body.offers, body.currency),
		rows: body.data
			.filter((bucket) => !isEmpty(bucket))
			.map((bucket) => ({
				name: periodName(period, bucket.start, bucket.end),
				net: money(bucket.net, body.currency),
				href: paymentsHref(period, bucket.start)
			}))
			.reverse()
	};
};
