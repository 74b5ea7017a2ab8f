import { MAX_QUERY_LENGTH, searchDocs } from '#lib/server/api/guide-search.ts';
import type { PageServerLoad } from './$types';

/** /docs/search?q=WORDS */
export const load: PageServerLoad = ({ url, locals }) => {
	const query = (url.searchParams.get('q') ?? '').slice(0, MAX_QUERY_LENGTH);
	return { query, hits: searchDocs(query, locals.app.config) };
};
