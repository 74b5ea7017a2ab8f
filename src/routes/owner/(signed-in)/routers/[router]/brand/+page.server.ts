import { brandForm, routerBrand, saveBrand } from '#lib/server/web/owner/brand-form.ts';
import { routerForm, routerPage } from '#lib/server/web/owner/owner.ts';

export const load = routerPage(async (event, router) => ({
	id: router.id,
	name: router.name,
	brandForm: await brandForm(event, routerBrand(router))
}));

export const actions = {
	default: routerForm((event, router, owner) => saveBrand(event, routerBrand(router), owner))
};
