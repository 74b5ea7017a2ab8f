import { error, type RequestEvent } from '@sveltejs/kit';
import * as m from '#lib/i18n/messages.js';
import { formatMoney } from '#lib/domain/money.ts';
import { phoneHint } from '#lib/checkout/phone-hint.ts';
import { apiClient, ApiUnavailable } from '#lib/server/portal/api-client.ts';
import { showBrand } from '#lib/server/web/brand.ts';
import type { RouterBody } from '#lib/server/api/contract/schemas.ts';
import { orUnavailable, orNull } from '../../api-errors.ts';
import { payFormRouter, placeOrder } from '../../order.ts';
import type { Actions, PageServerLoad } from './$types';

async function findRouter(event: RequestEvent<{ router: string }>): Promise<RouterBody> {
	const { router: id } = event.params;
	const router = /^\d{1,15}$/.test(id) ? await orNull(apiClient(event).recent.getRouter(Number(id))) : null;
	if (!router) error(404, m.router_unknown());
	return router;
}

/** Returns null if the service is unavailable and a form was posted, so that the page shows that form. */
async function routerToShow(event: RequestEvent<{ router: string }>): Promise<RouterBody | null> {
	if (event.request.method !== 'POST') return orUnavailable(findRouter(event), m.common_prices_unreachable());
	try {
		return await findRouter(event);
	} catch (problem) {
		if (problem instanceof ApiUnavailable) return null;
		throw problem;
	}
}

export const load: PageServerLoad = async (event) => {
	const router = await routerToShow(event);
	const { config, purchases } = event.locals.app;
	return {
		router: router && payFormRouter(router),
		brand: showBrand(event, router),
		price: router ? m.router_per_hour({ money: formatMoney(router.price, router.currency) }) : '',
		online: router?.status === 'online',
		hint: phoneHint(config.defaultRegion),
		purchase: purchases.newToken()
	};
};

export const actions: Actions = {
	default: (event) => placeOrder(event, () => findRouter(event))
};
