import { documentFor } from '#lib/server/docs/document.ts';
import { factsOf } from '#lib/server/docs/facts.ts';
import { purchaseProgram, purchaseSteps } from '#lib/server/docs/guides.ts';
import { groupsOf } from '#lib/server/docs/operations.ts';
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
