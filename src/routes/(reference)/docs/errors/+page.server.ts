import { itemCodes, problemLinks, problemObjects, problemView } from '#lib/server/api/reference/catalogue.ts';
import { documentFor } from '#lib/server/api/reference/document.ts';
import type { PageServerLoad } from './$types';

/** GET /docs/errors: the catalogue. */
export const load: PageServerLoad = ({ locals }) => {
	const document = documentFor(locals.origin);
	return {
		problems: problemLinks(document),
		items: itemCodes(),
		objects: problemObjects(document),
		example: problemView(document, 'validation_failed')?.example ?? ''
	};
};
