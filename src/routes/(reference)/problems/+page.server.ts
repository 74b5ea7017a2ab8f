import { error } from '@sveltejs/kit';
import { readGuides } from '#lib/server/api/guides.ts';
import type { PageServerLoad } from './$types';

/** GET /problems: all errors of the API. */
export const load: PageServerLoad = ({ locals }) => {
	const guide = readGuides(locals.app.config).find(({ href }) => href === '/problems');
	if (!guide) error(404, 'Not found');
	return { guide };
};
