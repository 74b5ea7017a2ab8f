import { routerForm, routerPage } from '#lib/server/web/owner/owner.ts';
import { accessForm, changeRouter, editForm, saveAccess } from '#lib/server/web/owner/router.ts';

export const load = routerPage(async (event, router) => ({
	...editForm(event, router),
	access: await accessForm(event, router)
}));

export const actions = { details: routerForm(changeRouter), access: routerForm(saveAccess) };
