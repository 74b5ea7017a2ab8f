import { requireAdmin } from '#lib/server/web/admin/admin.ts';
import { importFile } from '#lib/server/web/admin/router-import.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
	await requireAdmin(event);
	return { currency: event.locals.app.config.currency };
};

export const actions: Actions = { default: async (event) => importFile(event, await requireAdmin(event)) };
