import { documentFor } from '#lib/server/api/reference/document.ts';
import { factsOf } from '#lib/server/api/reference/facts.ts';
import { machinesOf } from '#lib/server/api/reference/states.ts';
import type { PageServerLoad } from './$types';

/** GET /docs/states: the lives of a session and of a payment. */
export const load: PageServerLoad = ({ locals }) => ({
	machines: machinesOf(documentFor(locals.origin)),
	facts: factsOf(locals.app.config)
});
