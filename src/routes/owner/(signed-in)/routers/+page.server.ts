import { link } from '#lib/i18n/current.ts';
import { requireOwner } from '#lib/server/web/owner/owner.ts';
import { routersOf } from '#lib/server/web/owner/figures/usage.ts';
import { idOf, pageLinks } from '#lib/server/web/page-links.ts';
import type { PageServerLoad } from './$types';

const PAGE_SIZE = 50;

export const load: PageServerLoad = async (event) => {
	const { actor } = await requireOwner(event);
	const { app } = event.locals;
	const at = idOf(event.url.searchParams.get('after')) || null;
	const { data, next } = await app.routers.owned(actor.accountId, { afterId: at ?? 0, limit: PAGE_SIZE });
	return {
		routers: await routersOf(app, data),
		pages: pageLinks(link('/owner/routers'), {}, { parameter: 'after', at, next })
	};
};
