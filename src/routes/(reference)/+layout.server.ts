import { documentFor } from '#lib/server/docs/document.ts';
import { groupsOf } from '#lib/server/docs/operations.ts';
import type { LayoutServerLoad } from './$types';

export const load: LayoutServerLoad = ({ locals }) => ({
	groups: groupsOf(documentFor(locals.origin)).map(({ href, name }) => ({ href, name }))
});
