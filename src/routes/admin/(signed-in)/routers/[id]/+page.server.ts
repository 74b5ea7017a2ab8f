import { requireAdmin } from '#lib/server/web/admin/admin.ts';
import { changeRouter, routerPage } from '#lib/server/web/admin/routers.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => routerPage(event, await requireAdmin(event));

export const actions: Actions = {
	disable: async (event) => changeRouter(event, await requireAdmin(event), 'disable'),
	enable: async (event) => changeRouter(event, await requireAdmin(event), 'enable'),
	confirm: async (event) => changeRouter(event, await requireAdmin(event), 'confirm'),
	withdraw: async (event) => changeRouter(event, await requireAdmin(event), 'withdraw')
};
