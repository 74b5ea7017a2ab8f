import { searchDocs } from '#lib/server/api/reference/search.ts';
import type { PageServerLoad } from './$types';

const MAX_QUERY = 100;

/** /docs/search?q=WORDS */
export const load: PageServerLoad = ({ url, locals }) => {
	const query = (url.searchParams.get('q') ?? '').slice(0, MAX_QUERY);
	return { query, hits: searchDocs(query, locals.origin, locals.app.config) };
};
