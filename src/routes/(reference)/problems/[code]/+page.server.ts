import { error } from '@sveltejs/kit';
import { endpointsOf } from '#lib/developer/openapi.ts';
import { schemasBelow } from '#lib/developer/schema.ts';
import { documentFor } from '#lib/server/api/document/document.ts';
import { occurrencesOf, problemsOf } from '#lib/server/api/reference/problem-pages.ts';
import type { PageServerLoad } from './$types';

/** GET /problems/{code}: target of an API error's `type`. */
export const load: PageServerLoad = ({ params, locals }) => {
	const document = documentFor(locals.origin);
	const problem = problemsOf(document).find(({ code }) => code === params.code);
	if (!problem) error(404, 'Not found');
	const occurrences = occurrencesOf(document, problem.code);
	const all = endpointsOf(document).filter(({ isWebhook }) => !isWebhook);
	return {
		document,
		problem,
		schemas: [...schemasBelow(document, problem.members)],
		example: occurrences[0]?.example ?? '',
		endpoints: occurrences.map(({ endpoint }) => endpoint),
		isEverywhere: occurrences.length === all.length
	};
};
