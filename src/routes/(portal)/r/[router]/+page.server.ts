import { error, type RequestEvent } from '@sveltejs/kit';
import * as m from '#lib/i18n/messages.js';
import { routerOf } from '#lib/server/web/portal/api-errors.ts';
import { placeOrder } from '#lib/server/web/portal/order.ts';
import { payPage } from '#lib/server/web/portal/pay-page.ts';
import type { Actions, PageServerLoad } from './$types';

async function findRouter(event: RequestEvent<{ router: string }>) {
	const router = await routerOf(event);
	if (!router) error(404, m.router_unknown());
	return router;
}

export const load: PageServerLoad = async (event) => {
	const data = await payPage(event, () => findRouter(event));
	// Going back shows the same form, whose token leads to what it has ordered. Any other visit asks for a new one.
	if (event.request.method === 'GET') event.setHeaders({ 'cache-control': 'private, no-cache' });
	return { ...data, picture: event.locals.origin + (data.brand?.logo?.url ?? '/icon.png') };
};

export const actions: Actions = {
	default: (event) => placeOrder(event, () => findRouter(event))
};
