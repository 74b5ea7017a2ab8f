import { error } from '@sveltejs/kit';
import { requireAdmin } from '#lib/server/web/admin/admin.ts';
import type { PageServerLoad } from './$types';

/** Keeps a wrong address in the administrator's area. */
export const load: PageServerLoad = async (event) => {
	await requireAdmin(event);
	error(404, 'Not found');
};
