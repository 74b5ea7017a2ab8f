import { documentFor } from '#lib/server/api/reference/document.ts';
import { groupsOf } from '#lib/server/api/reference/operations.ts';
import type { PageServerLoad } from './$types';

/** GET /docs/endpoints: all of them in one list. */
export const load: PageServerLoad = ({ locals }) => ({ groups: groupsOf(documentFor(locals.origin)) });
