import { requireDeveloper } from '#lib/server/web/developer/developer.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
	const { account } = await requireDeveloper(event);
	return {
		endpoints: await event.locals.app.webhooks.list(account.id),
		removed: event.url.searchParams.has('removed')
	};
};
