import { error } from '@sveltejs/kit';
import { problemView } from '#lib/server/api/reference/catalogue.ts';
import { documentFor } from '#lib/server/api/reference/document.ts';
import type { PageServerLoad } from './$types';

/** GET /problems/{code}: where the `type` of an API error leads. */
export const load: PageServerLoad = ({ params, locals }) => {
	const problem = problemView(documentFor(locals.origin), params.code);
	if (!problem) error(404, 'Not found');
	return { problem };
};
