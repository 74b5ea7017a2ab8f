import { searchPage } from '#lib/server/web/owner/help/search.ts';
import { requireOwner } from '#lib/server/web/owner/owner.ts';
import type { PageServerLoad } from './$types';

/** /owner/help?q=&day=: finds the purchase of a customer. */
export const load: PageServerLoad = async (event) => {
	return searchPage(event, await requireOwner(event));
};
