import { countSessionsForOwner, listSessionsForOwner } from '#lib/server/billing/session-reads.ts';
import { ownerPage } from '#lib/server/web/owner/owner.ts';
import { describeUsers } from '#lib/server/web/owner/customers.ts';
import { mayDo } from '#lib/server/web/owner/roles.ts';
import { startOf } from '#lib/server/web/owner/router.ts';
import { periodOf, routersOf, salesOfPeriod, sumOfToday } from '#lib/server/web/owner/figures.ts';
import { listOwnedRouters } from '#lib/server/routers/routers.ts';

/** Rows of each list. */
const FEW = 5;

/** /owner?period=daily|weekly|monthly: the present one. Cashiers see the sum of today only. */
export const load = ownerPage(async ({ url, locals: { app } }, { account, actor, role }) => {
	const isCashier = !mayDo(role, 'payments');
	const [sales, sum, online, onlineCount, owned, map] = await Promise.all([
		isCashier ? null : salesOfPeriod(app, actor, periodOf(url.searchParams)),
		isCashier ? sumOfToday(app, actor) : null,
		listSessionsForOwner(app, actor, { group: 'active', limit: FEW, after: null }),
		countSessionsForOwner(app, actor, 'active'),
		isCashier ? null : listOwnedRouters(app.routers, actor.accountId, { afterId: 0, limit: FEW }),
		account.role === 'admin' ? app.basemap.describe() : null
	]);
	return {
		lacksStreetMap: map?.kind === 'none',
		sales,
		sum,
		online: await describeUsers(app, online.data),
		onlineCount,
		mayList: !isCashier,
		// Of an owner with more routers, one may sell that is not here.
		start: owned && owned.next === null ? startOf(owned.data) : null,
		routers: owned && (await routersOf(app, owned.data)),
		moreRouters: owned?.next != null
	};
});
