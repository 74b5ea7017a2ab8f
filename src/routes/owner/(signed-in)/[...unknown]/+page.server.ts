import { error } from '@sveltejs/kit';
import { requireOwner } from '#lib/server/web/owner/owner.ts';
import type { PageServerLoad } from './$types';

/** Keeps a wrong address in the owner area. */
export const load: PageServerLoad = async (event) => {
	await requireOwner(event);
	error(404, 'Not found');
};
