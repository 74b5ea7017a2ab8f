import type { RequestEvent } from '@sveltejs/kit';
import { endsByItself } from '#lib/domain/access-kind.ts';
import * as m from '#lib/i18n/messages.js';
import { formatMoney } from '#lib/domain/money.ts';
import { phoneHint } from '#lib/checkout/phone-hint.ts';
import { offerOf } from '#lib/checkout/quote.ts';
import { ApiUnavailable } from '#lib/server/portal/api-client.ts';
import type { RouterBody } from '#lib/server/api/contract/schemas.ts';
import { showBrand } from '#lib/server/web/brand.ts';
import { orUnavailable } from './api-errors.ts';

/** Returns the data of RouterOffer.svelte. `router` is null if only a posted form can be shown. */
export async function payPage(event: RequestEvent, findRouter: () => Promise<RouterBody>) {
	const router = await routerToShow(event, findRouter);
	const { config, purchases } = event.locals.app;
	return {
		router: router && {
			...offerOf(router),
			id: router.id,
			name: router.name,
			address: router.address,
			ssid: router.ssid,
			lat: router.lat,
			lon: router.lon,
			/** A warning before the payment. */
			note: endsByItself(router.access_kind) ? null : m.router_shared()
		},
		brand: showBrand(event, router),
		price: router ? m.router_per_hour({ money: formatMoney(router.price, router.currency) }) : '',
		online: router?.status === 'online',
		hint: phoneHint(config.defaultRegion),
		purchase: purchases.newToken()
	};
}

/** Returns null if the service is unavailable and a form was posted, so that the page shows that form. */
async function routerToShow(event: RequestEvent, findRouter: () => Promise<RouterBody>) {
	if (event.request.method !== 'POST') return orUnavailable(findRouter(), m.common_prices_unreachable());
	try {
		return await findRouter();
	} catch (problem) {
		if (problem instanceof ApiUnavailable) return null;
		throw problem;
	}
}
