import { accessForm, saveAccess } from '#lib/server/web/owner/router/access-form.ts';
import { authorOf, ownRouter, requireActiveOwner, requireOwner } from '#lib/server/web/owner/owner.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) =>
	accessForm(event, await ownRouter(event, await requireOwner(event)));

export const actions: Actions = {
	default: async (event) => {
		const owner = await requireActiveOwner(event);
		return saveAccess(event, await ownRouter(event, owner), authorOf(owner));
	}
};
