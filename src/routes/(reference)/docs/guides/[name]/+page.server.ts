import { error } from '@sveltejs/kit';
import { readGuide } from '#lib/server/api/reference/guides.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = ({ params, locals }) => {
	const guide = readGuide(params.name, locals.origin, locals.app.config);
	if (!guide) error(404, 'Not found');
	return { guide };
};
