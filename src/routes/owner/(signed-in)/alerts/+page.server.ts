import { alertPage, changeAlerts } from '#lib/server/web/owner/alerts/alert-page.ts';
import { requireActiveOwner, requireOwner } from '#lib/server/web/owner/owner.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
	const { actor } = await requireOwner(event);
	return alertPage(event, actor.accountId);
};

export const actions: Actions = {
	default: async (event) => {
		const { actor } = await requireActiveOwner(event);
		return changeAlerts(event, actor.accountId);
	}
};
