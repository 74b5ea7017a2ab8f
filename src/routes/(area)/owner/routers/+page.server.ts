import { routersOf } from '#lib/server/web/owner/figures.ts';
import { ownerPage } from '#lib/server/web/owner/owner.ts';
import { PAGE_SIZE, readPage } from '#lib/server/web/page-links.ts';
import { listOwnedRouters } from '#lib/server/routers/routers.ts';

export const load = ownerPage(async (event, { actor }) => {
	const { app } = event.locals;
	const { data, pages } = await readPage(event, { parameter: 'after', length: 1 }, (at) =>
		listOwnedRouters(app.routers, actor.accountId, { afterId: at ?? 0, limit: PAGE_SIZE })
	);
	return { routers: await routersOf(app, data), pages };
});
