import { problemView } from '#lib/server/api/reference/catalogue.ts';
import { documentFor } from '#lib/server/api/reference/document.ts';
import { factsOf } from '#lib/server/api/reference/facts.ts';
import { limitsView } from '#lib/server/api/reference/limits.ts';
import type { PageServerLoad } from './$types';

/** GET /docs/limits: how much, how often, how long. */
export const load: PageServerLoad = ({ locals }) => {
	const document = documentFor(locals.origin);
	return {
		facts: factsOf(locals.app.config),
		...limitsView(document),
		refusal: problemView(document, 'rate_limit_exceeded')?.example ?? ''
	};
};
