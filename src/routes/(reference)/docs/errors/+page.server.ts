import { itemCodes, problemLinks, problemObjects, problemView } from '#lib/server/docs/catalogue.ts';
import { documentFor } from '#lib/server/docs/document.ts';
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
