import { requireDeveloper } from '#lib/server/web/developer.ts';
import type { PageServerLoad } from './$types';
import { listWebhooks } from '#lib/server/developer/webhooks.ts';

export const load: PageServerLoad = async (event) => {
	const { account } = await requireDeveloper(event);
	return {
		endpoints: await listWebhooks(event.locals.app.webhooks, account.id),
		removed: event.url.searchParams.has('removed')
	};
};
