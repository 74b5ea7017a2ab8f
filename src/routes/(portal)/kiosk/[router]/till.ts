import type { RequestEvent } from '@sveltejs/kit';
import { asksUserName, endsByItself } from '#lib/domain/access-kind.ts';
import * as m from '#lib/i18n/messages.js';
import type { ShownBrand } from '#lib/branding/brand.ts';
import type { KioskRouter, Till } from '#lib/kiosk/api.ts';
import { phoneHint } from '#lib/checkout/phone-hint.ts';
import { apiClient, ApiUnavailable } from '#lib/server/portal/api-client.ts';
import type { RouterBody } from '#lib/server/api/contract/schemas.ts';
import { showBrand } from '#lib/server/web/brand.ts';
import { orNull } from '../../api-errors.ts';

/** @returns null where the number in the address belongs to no router */
export async function kioskRouter(event: RequestEvent<{ router: string }>): Promise<RouterBody | null> {
	const { router: id } = event.params;
	return /^\d{1,15}$/.test(id) ? orNull(apiClient(event).recent.getRouter(Number(id))) : null;
}

/** The owner's brand; none while that cannot be read: the till says so itself. */
export async function kioskBrand(event: RequestEvent<{ router: string }>): Promise<ShownBrand | null> {
	try {
		return showBrand(event, await kioskRouter(event));
	} catch (problem) {
		if (problem instanceof ApiUnavailable) return null;
		throw problem;
	}
}

/** What the kiosk shows of a router, and no more. */
export const shownAtKiosk = ({
	id,
	name,
	address,
	ssid,
	price,
	currency,
	min_duration,
	max_duration,
	payment_methods,
	access_kind
}: RouterBody): KioskRouter => ({
	id,
	name,
	address,
	ssid,
	price,
	currency,
	min_duration,
	max_duration,
	payment_methods,
	signsIn: asksUserName(access_kind),
	note: endsByItself(access_kind) ? null : m.router_shared()
});

/** Whether the kiosk can sell now, and what. */
export async function readTill(event: RequestEvent<{ router: string }>): Promise<Till> {
	try {
		const router = await kioskRouter(event);
		if (!router) return { state: 'unknown', router: null };
		return {
			state: router.status === 'online' ? 'open' : 'offline',
			router: shownAtKiosk(router),
			hint: phoneHint(event.locals.app.config.defaultRegion)
		};
	} catch (problem) {
		if (problem instanceof ApiUnavailable) return { state: 'away', router: null };
		throw problem;
	}
}
