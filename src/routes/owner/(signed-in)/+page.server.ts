import { requireOwner } from '#lib/server/web/owner/owner.ts';
import { peopleOf } from '#lib/server/web/owner/people.ts';
import { periodOf } from '#lib/server/web/owner/figures/period.ts';
import { salesOfPeriod } from '#lib/server/web/owner/figures/today.ts';
import { routersOf } from '#lib/server/web/owner/figures/usage.ts';
import type { PageServerLoad } from './$types';

/** Rows of each list. */
const FEW = 5;

/** /owner?period=daily|weekly|monthly: the present one. */
export const load: PageServerLoad = async (event) => {
	const { actor } = await requireOwner(event);
	const { app } = event.locals;
	const [sales, online, owned] = await Promise.all([
		salesOfPeriod(app, actor, periodOf(event.url.searchParams)),
		app.sessions.activeForOwner(actor, { limit: FEW, after: null }),
		app.routers.owned(actor.accountId, { afterId: 0, limit: FEW })
	]);
	return {
		lacksStreetMap: actor.role === 'admin' && app.config.basemap === null,
		sales,
		online: await peopleOf(app, online.data),
		onlineCount: online.count,
		routers: await routersOf(app, owned.data),
		moreRouters: owned.next !== null
	};
};
