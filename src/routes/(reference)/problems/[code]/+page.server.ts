import { error } from '@sveltejs/kit';
import { problemView } from '#lib/server/docs/catalogue.ts';
import { documentFor } from '#lib/server/docs/document.ts';
import type { PageServerLoad } from './$types';

/** GET /problems/{code}: where the `type` of an API error leads. */
export const load: PageServerLoad = ({ params, locals }) => {
	const problem = problemView(documentFor(locals.origin), params.code);
	if (!problem) error(404, 'Not found');
	return { problem };
};
