import { documentFor } from '#lib/server/api/reference/document.ts';
import { groupsOf } from '#lib/server/api/reference/operations.ts';
import type { LayoutServerLoad } from './$types';

export const load: LayoutServerLoad = ({ locals }) => ({
	groups: groupsOf(documentFor(locals.origin)).map(({ href, name }) => ({ href, name }))
});
