import { error, type RequestEvent } from '@sveltejs/kit';
import { phoneHint } from '#lib/phone-hint.ts';
import { apiClient, ApiUnavailable } from '#lib/server/api-client.ts';
import type { RouterBody } from '#lib/server/contract/schemas.ts';
import { orCalmly, orNull } from '../../calm.ts';
import { placeOrder, shownOf } from '../../order.ts';
import type { Actions, PageServerLoad } from './$types';

const UNREACHABLE = 'Prices cannot be read at the moment. Nothing was taken.';

async function findRouter(event: RequestEvent<{ router: string }>): Promise<RouterBody> {
	const { router: id } = event.params;
	const router = /^\d{1,15}$/.test(id) ? await orNull(apiClient(event).recent.getRouter(Number(id))) : null;
	if (!router)
		error(404, 'This address belongs to no Wi-Fi that is sold here. Look at the list for one near you.');
	return router;
}

/** @returns null when the service cannot be asked and a form was sent: that is shown instead */
async function routerToShow(event: RequestEvent<{ router: string }>): Promise<RouterBody | null> {
	if (event.request.method !== 'POST') return orCalmly(findRouter(event), UNREACHABLE);
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
		router: router && shownOf(router),
		online: router?.status === 'online',
		hint: phoneHint(config.defaultRegion),
		purchase: purchases.newToken()
	};
};

export const actions: Actions = {
	default: (event) => placeOrder(event, () => findRouter(event))
};
