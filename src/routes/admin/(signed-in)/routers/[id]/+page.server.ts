import { adminPage } from '#lib/server/web/admin/admin.ts';
import { routerForm, routerPage } from '#lib/server/web/admin/routers.ts';

export const load = adminPage(routerPage);

export const actions = {
	price: routerForm('price'),
	disable: routerForm('disable'),
	enable: routerForm('enable'),
	confirm: routerForm('confirm'),
	withdraw: routerForm('withdraw'),
	points: routerForm('points')
};
