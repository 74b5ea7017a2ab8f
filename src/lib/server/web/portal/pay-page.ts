import { purchaseToken } from '#lib/server/platform/ids.ts';
import type { RequestEvent } from '@sveltejs/kit';
import { endsByItself } from '#lib/domain/access-kind.ts';
import * as m from '#lib/i18n/messages.js';
import { phoneHint } from '#lib/checkout/phone-hint.ts';
import { offerOf, priceText } from '#lib/checkout/quote.ts';
import type { RouterBody } from '#lib/server/contract/router.ts';
import { showBrand } from '#lib/server/web/brand.ts';
import { ifAvailable, orUnavailable } from './api-errors.ts';
import { closedText } from './opening-times.ts';

/**
 * Returns the data of RouterOffer.svelte. `router` is null if only a posted form can be shown.
 * @param isJoined the device is connected to the Wi-Fi already, and needs no password for it
 */
export async function payPage(event: RequestEvent, findRouter: () => Promise<RouterBody>, isJoined = false) {
	// A posted form is shown without the router.
	const router = await (event.request.method === 'POST'
		? ifAvailable(findRouter(), null)
		: orUnavailable(findRouter(), m.common_prices_unreachable()));
	const { config } = event.locals.app;
	return {
		/** `note`: a warning before the payment. */
		router: router && { ...offerOf(router), note: payNote(router, isJoined) },
		brand: showBrand(event, router),
		price: router ? priceText(router) : '',
		online: router?.status === 'online',
		closed: await closedText(event, router),
		hint: phoneHint(config.defaultRegion),
		purchase: purchaseToken()
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
