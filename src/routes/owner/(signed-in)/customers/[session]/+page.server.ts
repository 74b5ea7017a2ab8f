import { purchasePage } from '#lib/server/web/owner/help.ts';
import { ownerPage } from '#lib/server/web/owner/owner.ts';

/** /owner/customers/{session}: what happened to a purchase, and what to do. */
export const load = ownerPage(purchasePage);
