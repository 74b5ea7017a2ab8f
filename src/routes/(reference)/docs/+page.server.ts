import { documentFor } from '#lib/server/api/reference/document.ts';
import { factsOf } from '#lib/server/api/reference/facts.ts';
import { purchaseProgram, purchaseSteps } from '#lib/server/api/reference/guides.ts';
import { groupsOf } from '#lib/server/api/reference/operations.ts';
import type { PageServerLoad } from './$types';

/** GET /docs: where a developer begins. */
export const load: PageServerLoad = ({ locals }) => {
	const { config } = locals.app;
	const document = documentFor(locals.origin);
	const baseUrl = document.servers[0]?.url ?? '';
	return {
		baseUrl,
		facts: factsOf(config),
		steps: purchaseSteps(baseUrl, config),
		program: purchaseProgram(baseUrl, config),
		groups: groupsOf(document)
	};
};
