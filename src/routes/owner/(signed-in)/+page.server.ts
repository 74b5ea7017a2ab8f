import { requireOwner } from '#lib/server/web/owner/owner.ts';
import * as m from '#lib/i18n/messages.js';
import { figuresOf } from '#lib/server/web/owner/figures.ts';
import { peopleOf } from '#lib/server/web/owner/people.ts';
import { routersOf } from '#lib/server/web/owner/usage.ts';
import type { PageServerLoad } from './$types';

/** Rows of each list. */
const FEW = 5;

export const load: PageServerLoad = async (event) => {
	const { actor } = await requireOwner(event);
	const { app } = event.locals;
	const today = app.earnings.today();
	const sumOf = (period: 'daily' | 'weekly' | 'monthly') =>
		app.earnings.summary(actor, { period, from: today, to: today });
	const [daily, weekly, monthly, online, owned] = await Promise.all([
		sumOf('daily'),
		sumOf('weekly'),
		sumOf('monthly'),
		app.sessions.listForOwner(actor, { group: 'active', limit: FEW, after: null }),
		app.routers.owned(actor.accountId, { afterId: 0, limit: FEW })
	]);
	const named = [
		[daily, m.owner_today()],
		[weekly, m.owner_this_week()],
		[monthly, m.owner_this_month()]
	] as const;
	return {
		lacksStreetMap: actor.role === 'admin' && app.config.basemap === null,
		figures: named.flatMap(([body, name]) => body.data.map((bucket) => figuresOf(body, bucket, name))),
		online: await peopleOf(app, online.data),
		counts: online.counts,
		routers: await routersOf(app, owned.data),
		moreRouters: owned.next !== null
	};
};
