import { addRouter, newRouterForm } from '#lib/server/web/owner/router/new-router.ts';
import { requireOwner } from '#lib/server/web/owner/owner.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
	await requireOwner(event);
	return newRouterForm(event);
};

export const actions: Actions = { default: addRouter };
