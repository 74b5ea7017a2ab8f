import { redirect } from '@sveltejs/kit';
import { requireVisitor } from '#lib/server/web/developer/visitor.ts';
import { endpointOf } from '#lib/server/web/developer/webhooks.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => ({
	endpoint: await endpointOf(event, await requireVisitor(event))
});

export const actions: Actions = {
	default: async (event) => {
		const visitor = await requireVisitor(event);
		const { id } = await endpointOf(event, visitor);
		await event.locals.app.webhooks.remove(visitor.account.id, id);
		redirect(303, '/developer/webhooks?removed');
	}
};
