import type { RequestEvent } from '@sveltejs/kit';
import { asksUserName } from '#lib/domain/access-kind.ts';
import type { KioskRouter, Availability } from '#lib/kiosk/client.ts';
import { phoneHint } from '#lib/checkout/phone-hint.ts';
import { sellsNothing } from '#lib/checkout/price.ts';
import { ApiUnavailable } from '#lib/server/portal/api-client.ts';
import type { RouterBody } from '#lib/server/contract/router.ts';
import { routerOf } from '../api-errors.ts';
import { closedText } from '../opening-times.ts';
import { payNote } from '../pay-page.ts';

const shownAtKiosk = (router: RouterBody): KioskRouter => ({
	...router,
	signsIn: asksUserName(router.access_kind),
	note: payNote(router)
});

export async function readAvailability(event: RequestEvent<{ router: string }>): Promise<Availability> {
	try {
		const router = await routerOf(event);
		if (!router) return { state: 'unknown', router: null };
		const shown = {
			router: shownAtKiosk(router),
			hint: phoneHint(event.locals.app.config.defaultRegion)
		};
		const closed = await closedText(event, router);
		if (closed !== null) return { state: 'closed', text: closed, ...shown };
		return { state: router.status === 'online' && !sellsNothing(router) ? 'open' : 'offline', ...shown };
	} catch (problem) {
		if (problem instanceof ApiUnavailable) return { state: 'away', router: null };
		throw problem;
	}
}
