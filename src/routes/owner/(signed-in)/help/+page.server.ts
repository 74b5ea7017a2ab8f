import { searchPage } from '#lib/server/web/owner/help/search.ts';
import { ownerPage } from '#lib/server/web/owner/owner.ts';

/** /owner/help?q=&day=: finds the purchase of a customer. */
export const load = ownerPage(searchPage);
