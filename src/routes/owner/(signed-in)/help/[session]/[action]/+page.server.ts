import { act, actionPage } from '#lib/server/web/owner/help/act.ts';
import { requireActiveOwner, requireOwner } from '#lib/server/web/owner/owner.ts';
import type { Actions, PageServerLoad } from './$types';

/** /owner/help/{session}/{action}: says what happens, asks for the reason, then does it. */
export const load: PageServerLoad = async (event) => actionPage(event, await requireOwner(event));

export const actions: Actions = {
	default: async (event) => act(event, await requireActiveOwner(event))
};
