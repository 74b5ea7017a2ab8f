import { requireVisitor } from '#lib/server/web/developer/visitor.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
	const { account } = await requireVisitor(event);
	return {
		endpoints: await event.locals.app.webhooks.list(account.id),
		removed: event.url.searchParams.has('removed')
	};
};
