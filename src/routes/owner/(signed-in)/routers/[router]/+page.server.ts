import { ownRouter, requireOwner } from '#lib/server/http/owner.ts';
import * as m from '#lib/language/messages.js';
import { routerUse } from '../../../usage.ts';
import { money } from '../../../words.ts';
import type { PageServerLoad } from './$types';

/** /owner/routers/{id}: its price, its poster, its addresses. */
export const load: PageServerLoad = async (event) => {
	const router = await ownRouter(event, await requireOwner(event));
	const { origin } = event.locals;
	const { usage, config } = event.locals.app;
	const uses = await usage.ofRouters([router.id]);
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
		use: routerUse(uses.get(router.id), config.reportTimezone),
		/** As they are given to people: without a language, so that each phone speaks its own. */
		buyerAddress: `${origin}/r/${router.id}`,
		kioskAddress: `${origin}/kiosk/${router.id}`,
		done: event.url.searchParams.get('done') === 'price' ? m.owner_price_done({ money: price }) : null
	};
};
