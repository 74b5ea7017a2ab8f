import { ownRouter, requireActiveOwner, requireOwner } from '#lib/server/web/owner/owner.ts';
import { brandForm, saveBrand } from '#lib/server/web/owner/brand-form.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
	const router = await ownRouter(event, await requireOwner(event));
	return {
		id: router.id,
		name: router.name,
		brandForm: await brandForm(event, { accountId: router.ownerAccountId, routerId: router.id })
	};
};

export const actions: Actions = {
	default: async (event) => {
		const owner = await requireActiveOwner(event);
		const router = await ownRouter(event, owner);
		const subject = { accountId: router.ownerAccountId, routerId: router.id };
		return saveBrand(event, subject, owner.actor.personId);
	}
};
