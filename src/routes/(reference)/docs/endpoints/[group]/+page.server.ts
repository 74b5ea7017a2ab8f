import { error } from '@sveltejs/kit';
import { documentFor } from '#lib/server/api/reference/document.ts';
import { groupView, sharedErrors } from '#lib/server/api/reference/operations.ts';
import type { PageServerLoad } from './$types';

/** GET /docs/endpoints/{group}: the endpoints of one tag of the document, in full. */
export const load: PageServerLoad = ({ params, locals }) => {
	const document = documentFor(locals.origin);
	const group = groupView(document, params.group);
	if (!group) error(404, 'Not found');
	return { group, shared: sharedErrors(document, params.group) };
};
