import { link } from '#lib/i18n/current.ts';
import { routersOf } from '#lib/server/web/owner/figures/usage.ts';
import { ownerPage } from '#lib/server/web/owner/owner.ts';
import { idOf, pageLinks } from '#lib/server/web/page-links.ts';

const PAGE_SIZE = 50;

export const load = ownerPage(async ({ url, locals: { app } }, { actor }) => {
	const at = idOf(url.searchParams.get('after')) || null;
	const { data, next } = await app.routers.owned(actor.accountId, { afterId: at ?? 0, limit: PAGE_SIZE });
	return {
		routers: await routersOf(app, data),
		pages: pageLinks(link('/owner/routers'), {}, { parameter: 'after', at, next })
	};
});
