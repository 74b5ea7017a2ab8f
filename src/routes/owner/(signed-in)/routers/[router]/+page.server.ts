import { ownRouter, requireOwner } from '#lib/server/web/owner/owner.ts';
import * as m from '#lib/i18n/messages.js';
import { accessWords } from '#lib/server/web/owner/access-words.ts';
import { notSold, routerUse } from '#lib/server/web/owner/usage.ts';
import { money } from '#lib/format/text.ts';
import type { PageServerLoad } from './$types';

function doneText(done: string | null, price: string): string | null {
	if (done === 'price') return m.owner_price_done({ money: price });
	return done === 'wifi' ? m.owner_wifi_done() : null;
}

export const load: PageServerLoad = async (event) => {
	const router = await ownRouter(event, await requireOwner(event));
	const { origin } = event.locals;
	const { usage, config } = event.locals.app;
	const use = (await usage.ofRouters([router.id])).get(router.id);
	const price = money(router.price, router.currency);
	return {
		router: {
			id: router.id,
			name: router.name,
			address: router.address,
			ssid: router.ssid,
			status: router.status,
			disabled: router.disabled,
			price
		},
		hourly: router.hourly,
		offers: router.offers.map((offer) => ({
			name: offer.name,
			money: money(offer.price, router.currency)
		})),
		access: accessWords(router),
		use: routerUse(use, config.reportTimezone),
		notSold: notSold(router, use, config.reportTimezone),
		/** Without a language prefix, so that each phone uses its own language. */
		buyerAddress: `${origin}/r/${router.id}`,
		kioskAddress: `${origin}/kiosk/${router.id}`,
		done: doneText(event.url.searchParams.get('done'), price)
	};
};
