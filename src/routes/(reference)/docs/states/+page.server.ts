import { documentFor } from '#lib/server/docs/document.ts';
import { factsOf } from '#lib/server/docs/facts.ts';
import { machinesOf } from '#lib/server/docs/states.ts';
import type { PageServerLoad } from './$types';

/** GET /docs/states: the lives of a session and of a payment. */
export const load: PageServerLoad = ({ locals }) => ({
	machines: machinesOf(documentFor(locals.origin)),
	facts: factsOf(locals.app.config)
});
