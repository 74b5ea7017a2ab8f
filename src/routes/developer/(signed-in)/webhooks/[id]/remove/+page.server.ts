import { redirect } from '@sveltejs/kit';
import { requireDeveloper } from '#lib/server/web/developer/developer.ts';
import { endpointOf } from '#lib/server/web/developer/webhooks.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => ({
	endpoint: await endpointOf(event, await requireDeveloper(event))
});

export const actions: Actions = {
	default: async (event) => {
		const developer = await requireDeveloper(event);
		const { id } = await endpointOf(event, developer);
		await event.locals.app.webhooks.remove(developer.account.id, id);
		redirect(303, '/developer/webhooks?removed');
	}
};
