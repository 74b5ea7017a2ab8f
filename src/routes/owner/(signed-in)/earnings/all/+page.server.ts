import { periodName } from '#lib/format/text.ts';
import * as m from '#lib/i18n/messages.js';
import type { App } from '#lib/server/app.ts';
import { offerLines, paymentsHref, sumLine } from '#lib/server/web/owner/figures/figures.ts';
import { dayOf, periodOf } from '#lib/server/web/owner/figures/period.ts';
import { requireOwner, type OwnerVisitor } from '#lib/server/web/owner/owner.ts';
import type { PageServerLoad } from './$types';

type Of = Parameters<App['earnings']['byRouter']>[1];

/** /owner/earnings/all?by=router|offer&period=&day=: every sum of a period. */
export const load: PageServerLoad = async (event) => {
	const { actor } = await requireOwner(event);
	const { earnings } = event.locals.app;
	const { searchParams } = event.url;
	const of = { period: periodOf(searchParams), day: dayOf(searchParams, earnings.today()) };
	return searchParams.get('by') === 'offer' ? byOffer(earnings, actor, of) : byRouter(earnings, actor, of);
};

async function byRouter(earnings: App['earnings'], actor: OwnerVisitor['actor'], of: Of) {
	const { currency, start, end, data } = await earnings.byRouter(actor, of);
	return {
		title: m.owner_by_router(),
		group: m.owner_router(),
		period: periodName(of.period, start, end),
		all: paymentsHref(of.period, start),
		lines: data.map((one) => ({
			...sumLine(one.name, one, currency),
			href: paymentsHref(of.period, start, { router: one.id })
		}))
	};
}

async function byOffer(earnings: App['earnings'], actor: OwnerVisitor['actor'], { period, day }: Of) {
	const { currency, start, end, offers } = await earnings.breakdown(actor, { period, from: day, to: day });
	return {
		title: m.owner_offers_by(),
		group: m.owner_offers(),
		period: periodName(period, start, end),
		all: paymentsHref(period, start),
		lines: offerLines(offers, currency).map(({ offer, ...line }) => ({
			...line,
			href: paymentsHref(period, start, { offer })
		}))
	};
}
