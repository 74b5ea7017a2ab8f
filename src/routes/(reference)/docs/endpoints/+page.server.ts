import { documentFor } from '#lib/server/docs/document.ts';
import { groupsOf } from '#lib/server/docs/operations.ts';
import type { PageServerLoad } from './$types';

/** GET /docs/endpoints: all of them in one list. */
export const load: PageServerLoad = ({ locals }) => ({ groups: groupsOf(documentFor(locals.origin)) });
