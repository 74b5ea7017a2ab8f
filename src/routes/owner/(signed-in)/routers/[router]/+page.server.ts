import { ownRouter, requireOwner } from '#lib/server/web/owner/owner.ts';
import * as m from '#lib/i18n/messages.js';
import { accessWords } from '#lib/server/web/owner/router/access-words.ts';
import { routerState } from '#lib/server/web/owner/router/router-state.ts';
import { routerSteps } from '#lib/server/web/owner/router/router-steps.ts';
import { routerUse } from '#lib/server/web/owner/figures/usage.ts';
import { money } from '#lib/format/text.ts';
import type { PageServerLoad } from './$types';

function doneText(done: string | null, price: string, sells: boolean): string | null {
	const texts: Record<string, () => string> = {
		price: () => m.owner_price_done({ money: price }),
		access: m.owner_access_done,
		edit: m.owner_router_done,
		sales: sells ? m.owner_router_sells : m.owner_router_done,
		new: m.owner_new_done,
		gateway: m.owner_gateway_removed
	};
	return texts[done ?? '']?.() ?? null;
}

export const load: PageServerLoad = async (event) => {
	const router = await ownRouter(event, await requireOwner(event));
	const { origin } = event.locals;
	const { clock, usage, config } = event.locals.app;
	const timeZone = config.reportTimezone;
	const use = (await usage.ofRouters([router.id])).get(router.id);
	const price = money(router.price, router.currency);
	const state = routerState(router, { now: clock.now(), timeZone });
	return {
		router: {
			id: router.id,
			name: router.name,
			address: router.address,
			ssid: router.ssid,
			price
		},
		hourly: router.hourly,
		offers: router.offers.map((offer) => ({
			name: offer.name,
			money: money(offer.price, router.currency)
		})),
		access: accessWords(router),
		use: routerUse(use, timeZone),
		state,
		steps: routerSteps(router),
		/** Without a language prefix, so that each phone uses its own language. */
		buyerAddress: `${origin}/r/${router.id}`,
		kioskAddress: `${origin}/kiosk/${router.id}`,
		done: doneText(event.url.searchParams.get('done'), price, state.text === null)
	};
};
