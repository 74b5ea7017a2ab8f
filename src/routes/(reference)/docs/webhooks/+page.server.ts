import { documentFor } from '#lib/server/api/reference/document.ts';
import { DELIVERY, webhooksView } from '#lib/server/api/reference/events.ts';
import { VERIFY_WITH_NODE, VERIFY_WITH_PACKAGE } from '#lib/server/api/reference/guides.ts';
import type { PageServerLoad } from './$types';

/** GET /docs/webhooks: events, and how to know that they are genuine. */
export const load: PageServerLoad = ({ locals }) => ({
	...webhooksView(documentFor(locals.origin)),
	delivery: DELIVERY,
	withPackage: VERIFY_WITH_PACKAGE,
	withNode: VERIFY_WITH_NODE
});
