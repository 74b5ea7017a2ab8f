import { error } from '@sveltejs/kit';
import * as m from '#lib/i18n/messages.js';
import { readIdleSeconds } from '#lib/kiosk/idle.ts';
import { sellsNothing } from '#lib/purchase/quote.ts';
import { describePayPage, placeOrder } from '#lib/server/portal/pay-page.ts';
import { ifAvailable, pathToBuy, readRouter } from '#lib/server/portal/pages.ts';
import type { Actions, PageServerLoad } from './$types';

/** The start screen of a kiosk: it always answers, because a tablet has nobody who would try again. */
export const load: PageServerLoad = async (event) => {
	const router = await ifAvailable(readRouter(event), undefined);
	const pay = await describePayPage(event, router ?? null);
	return {
		...pay,
		isUnknown: router === null,
		kiosk: {
			kind: 'choosing' as const,
			start: pathToBuy(event, Number(event.params.router)),
			idleSeconds: readIdleSeconds(event.url.searchParams),
			isClosed: !pay.online || pay.router === null || sellsNothing(pay.router)
		}
	};
};

export const actions: Actions = {
	default: (event) =>
		placeOrder(event, async () => {
			const router = await readRouter(event);
			if (!router) error(404, m.router_unknown());
			return router;
		})
};
