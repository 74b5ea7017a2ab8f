import { adminPage } from '#lib/server/web/admin/admin.ts';
import { findRouters, routerLines } from '#lib/server/web/admin/routers.ts';
import { PAGE_SIZE, readPage } from '#lib/server/web/page-links.ts';

const MAX_TEXT = 254;

/** /admin/routers?find=&after=ID: by id. */
export const load = adminPage(async (event) => {
	const { app } = event.locals;
	const search = event.url.searchParams;
	const find = (search.get('find') ?? '')
		.replace(/\p{Cc}+/gu, '')
		.trim()
		.slice(0, MAX_TEXT);
	const list = { parameter: 'after', length: 1, filters: { find: find || null } } as const;
	const { data, pages } = await readPage(event, list, (at) =>
		findRouters(event, find, { afterId: at ?? 0, limit: PAGE_SIZE })
	);
	return { find, routers: await routerLines(app, data), pages };
});
