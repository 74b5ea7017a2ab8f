import { problemView } from '#lib/server/docs/catalogue.ts';
import { documentFor } from '#lib/server/docs/document.ts';
import { factsOf } from '#lib/server/docs/facts.ts';
import { limitsView } from '#lib/server/docs/limits.ts';
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
