import { addGateway, connectForm } from '#lib/server/web/owner/gateway/gateway-form.ts';
import { gatewaysOf } from '#lib/server/web/owner/gateway/gateway-page.ts';
import { ownRouter, requireOwner } from '#lib/server/web/owner/owner.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
	const router = await ownRouter(event, await requireOwner(event));
	return {
		...connectForm(router, event.url.searchParams.get('kind')),
		gateways: await gatewaysOf(event, router.id)
	};
};

export const actions: Actions = { default: addGateway };
