import { requireOwner } from '#lib/server/web/owner.ts';
import * as m from '#lib/i18n/messages.js';
import { figuresOf, type Figures } from '../figures.ts';
import { personOf } from '../people.ts';
import { silentText, useLine } from '../usage.ts';
import { money } from '../words.ts';
import type { PageServerLoad } from './$types';

/** Rows of each list on the first page. */
const FEW = 5;

/** /owner: earnings of today, this week and this month, current customers, and routers. */
export const load: PageServerLoad = async (event) => {
	const { actor } = await requireOwner(event);
	const { earnings, sessions, routers, config, usage } = event.locals.app;
	const today = earnings.today();
	const now = { from: today, to: today };
	const [daily, weekly, monthly, online, owned] = await Promise.all([
		earnings.summary(actor, { period: 'daily', ...now }),
		earnings.summary(actor, { period: 'weekly', ...now }),
		earnings.summary(actor, { period: 'monthly', ...now }),
		sessions.listForOwner(actor, { group: 'active', limit: FEW, after: null }),
		routers.owned(actor.accountId, { afterId: 0, limit: FEW })
	]);
	const [uses, routerUses] = await Promise.all([
		usage.ofSessions(online.data.map((user) => user.session_id)),
		usage.ofRouters(owned.data.map(({ id }) => id))
	]);
	const named = [
		[daily, m.owner_today()],
		[weekly, m.owner_this_week()],
		[monthly, m.owner_this_month()]
	] as const;
	return {
		figures: named.flatMap(([body, name]): Figures[] =>
			body.data.map((bucket) => figuresOf(body, bucket, name))
		),
		online: online.data.map((user) => personOf(user, config.reportTimezone, uses.get(user.session_id))),
		counts: online.counts,
		routers: owned.data.map(({ id, name, price, currency, status, disabled }) => ({
			id,
			name,
			price: money(price, currency),
			status,
			disabled,
			use: useLine(routerUses.get(id)),
			silent: silentText(routerUses.get(id), config.reportTimezone)
		})),
		moreRouters: owned.next !== null
	};
};
