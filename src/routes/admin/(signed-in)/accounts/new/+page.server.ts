import { createAccount } from '#lib/server/web/admin/accounts.ts';
import { requireAdmin } from '#lib/server/web/admin/admin.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
	await requireAdmin(event);
};

export const actions: Actions = { default: async (event) => createAccount(event, await requireAdmin(event)) };
