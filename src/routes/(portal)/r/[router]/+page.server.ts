import { error, type RequestEvent } from '@sveltejs/kit';
import * as m from '#lib/i18n/messages.js';
import { readRouter } from '#lib/server/portal/pages.ts';
import { placeOrder, readPayPage } from '#lib/server/portal/pay-page.ts';
import type { Actions, PageServerLoad } from './$types';

async function findRouter(event: RequestEvent<{ router: string }>) {
	const router = await readRouter(event);
	if (!router) error(404, m.router_unknown());
	return router;
}

export const load: PageServerLoad = async (event) => {
	const data = await readPayPage(event, () => findRouter(event));
	// Going back shows the same form, whose token leads to what it has ordered. Any other visit asks for a new one.
	if (event.request.method === 'GET') event.setHeaders({ 'cache-control': 'private, no-cache' });
	return { ...data, picture: event.locals.origin + (data.brand?.logo?.url ?? '/icon.png') };
};

export const actions: Actions = {
	default: (event) => placeOrder(event, () => findRouter(event))
};
