import { endPage, endTime } from '#lib/server/web/owner/help/end.ts';
import { requireActiveOwner, requireOwner } from '#lib/server/web/owner/owner.ts';
import type { Actions, PageServerLoad } from './$types';

/** /owner/help/{session}/end: asks for the reason and a confirmation, then ends the time of a customer. */
export const load: PageServerLoad = async (event) => endPage(event, await requireOwner(event));

export const actions: Actions = {
	default: async (event) => endTime(event, await requireActiveOwner(event))
};
