import { requireActiveOwner, requireOwner } from '#lib/server/web/owner/owner.ts';
import { brandForm, saveBrand } from '#lib/server/web/owner/brand-form.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
	const { actor } = await requireOwner(event);
	return { brandForm: await brandForm(event, { accountId: actor.accountId, routerId: null }) };
};

export const actions: Actions = {
	default: async (event) => {
		const { actor } = await requireActiveOwner(event);
		return saveBrand(event, { accountId: actor.accountId, routerId: null }, actor.personId);
	}
};
