import { requireOwner } from '#lib/server/web/owner.ts';
import { link } from '#lib/i18n/current.ts';
import { silentText, useLine } from '../../usage.ts';
import { money } from '../../words.ts';
import type { PageServerLoad } from './$types';

const PAGE_SIZE = 50;

/** /owner/routers: the owner's routers with their prices. */
export const load: PageServerLoad = async (event) => {
	const { actor } = await requireOwner(event);
	const wanted = event.url.searchParams.get('after') ?? '';
	const afterId = /^\d{1,15}$/.test(wanted) ? Number(wanted) : 0;
	const { routers, usage, config } = event.locals.app;
	const page = await routers.owned(actor.accountId, { afterId, limit: PAGE_SIZE });
	const uses = await usage.ofRouters(page.data.map(({ id }) => id));
	return {
		routers: page.data.map(({ id, name, price, currency, status, disabled }) => ({
			id,
			name,
			price: money(price, currency),
			status,
			disabled,
			use: useLine(uses.get(id)),
			silent: silentText(uses.get(id), config.reportTimezone)
		})),
		isFirst: afterId === 0,
		next: page.next === null ? null : link(`/owner/routers?after=${page.next}`)
	};
};
