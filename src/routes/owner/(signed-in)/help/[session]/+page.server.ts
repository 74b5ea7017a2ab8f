import { purchasePage } from '#lib/server/web/owner/help/purchase.ts';
import { requireOwner } from '#lib/server/web/owner/owner.ts';
import type { PageServerLoad } from './$types';

/** /owner/help/{session}: what happened to a purchase, and what to do. */
export const load: PageServerLoad = async (event) => purchasePage(event, await requireOwner(event));
