import { error } from '@sveltejs/kit';
import * as m from '#lib/i18n/messages.js';
import { normaliseMac } from '#lib/domain/address.ts';
import { enterCaptiveSession, readSplashPage } from '#lib/server/portal/splash.ts';
import type { PageServerLoad } from './$types';
import { findGatewayBySite } from '#lib/server/gateways/gateways.ts';

/** UniFi's address has a trailing slash; a redirect would cost a round trip. */
export const trailingSlash = 'ignore';

/** GET /guest/s/{site}/: the splash page for UniFi's external portal. The site identifies the gateway. */
export const load: PageServerLoad = async (event) => {
	const accessPoint = normaliseMac(event.url.searchParams.get('ap') ?? '');
	const gateway = await findGatewayBySite(event.locals.app.gateways, event.params.site, accessPoint);
	if (gateway === 'disputed') error(409, m.splash_refusal_disputed());
	if (!gateway) error(404, m.splash_refusal_unknown());
	return readSplashPage(event, gateway, await enterCaptiveSession(event, gateway, event.url.searchParams));
};
