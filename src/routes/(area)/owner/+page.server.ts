import { countSessionsForOwner, listSessionsForOwner } from '#lib/server/billing/owner-sessions.ts';
import { findUndecidedPurchases } from '#lib/server/owner/help.ts';
import { listOwnedRouters } from '#lib/server/routers/routers.ts';
import { describeOrder, describeUsers } from '#lib/server/web/owner/customers.ts';
import { routersOf, salesOfToday } from '#lib/server/web/owner/figures.ts';
import { ownerPage } from '#lib/server/web/owner/owner.ts';
import { mayDo } from '#lib/server/web/owner/roles.ts';
import { startOf } from '#lib/server/web/owner/router.ts';

/** Rows of a list, which leads to the others. */
const FEW = 3;
const MAX_ROUTERS = 50;

/** The figures of today, then what needs a decision. Cashiers see sums without the payments behind them. */
export const load = ownerPage(async ({ locals: { app } }, { account, actor, role }) => {
	const isCashier = !mayDo(role, 'money');
	const [sales, online, onlineCount, owned, undecided, map] = await Promise.all([
		salesOfToday(app, actor, !isCashier),
		listSessionsForOwner(app, actor, { group: 'active', limit: FEW, after: null }),
		countSessionsForOwner(app, actor, 'active'),
		isCashier ? null : listOwnedRouters(app.routers, actor.accountId, { afterId: 0, limit: MAX_ROUTERS }),
		findUndecidedPurchases(app.help, actor.accountId, FEW),
		account.role === 'admin' ? app.basemap.describe() : null
	]);
	// Of an owner with more routers, one may sell that is not here.
	const start = owned && owned.next === null ? startOf(owned.data) : null;
	const routers = start || !owned ? [] : await routersOf(app, owned.data);
	return {
		lacksStreetMap: map?.kind === 'none',
		sales,
		start,
		hasRouters: owned === null || owned.data.length > 0,
		broken: routers.filter(({ state }) => state.tone === 'bad').slice(0, FEW),
		undecided: undecided.map((found) => describeOrder(found, app)),
		online: await describeUsers(app, online.data),
		onlineCount,
		mayList: !isCashier
	};
});
