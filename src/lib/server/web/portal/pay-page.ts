import type { RequestEvent } from '@sveltejs/kit';
import { endsByItself } from '#lib/domain/access-kind.ts';
import * as m from '#lib/i18n/messages.js';
import { phoneHint } from '#lib/checkout/phone-hint.ts';
import { offerOf, priceText } from '#lib/checkout/quote.ts';
import { ApiUnavailable } from '#lib/server/portal/api-client.ts';
import type { RouterBody } from '#lib/server/api/contract/schemas.ts';
import { showBrand } from '#lib/server/web/brand.ts';
import { orUnavailable } from './api-errors.ts';
import { closedText } from './opening-times.ts';

/**
 * Returns the data of RouterOffer.svelte. `router` is null if only a posted form can be shown.
 * @param isJoined the device is connected to the Wi-Fi already, and needs no password for it
 */
export async function payPage(event: RequestEvent, findRouter: () => Promise<RouterBody>, isJoined = false) {
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
			note: payNote(router, isJoined)
		},
		brand: showBrand(event, router),
		price: router ? priceText(router) : '',
		online: router?.status === 'online',
		closed: await closedText(event, router),
		hint: phoneHint(config.defaultRegion),
		purchase: purchases.newToken()
	};
}

/** Warns of a password that we do not have or that all guests share. */
export function payNote(
	{ access_kind, network_password_provided }: RouterBody,
	isJoined = false
): string | null {
	if (!endsByItself(access_kind)) return m.router_shared();
	return network_password_provided !== false || isJoined ? null : m.router_ask_password();
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
