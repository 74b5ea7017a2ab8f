import { addGateway, connectForm } from '#lib/server/web/owner/gateway/gateway-form.ts';
import { gatewaysOf } from '#lib/server/web/owner/gateway/gateway-page.ts';
import { ownRouter, requireOwner } from '#lib/server/web/owner/owner.ts';
import { mayDo } from '#lib/server/web/owner/roles.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
	const owner = await requireOwner(event);
	const router = await ownRouter(event, owner);
	return {
		mayConnect: mayDo(owner.role, 'routers/[router]/gateway', 'default'),
		...connectForm(router, event.url.searchParams.get('kind')),
		gateways: await gatewaysOf(event, router.id)
	};
};

export const actions: Actions = { default: addGateway };
