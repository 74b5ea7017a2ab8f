import { WEEKDAYS } from '#lib/domain/offers/sale-hours.ts';
import { money, weekdayName } from '#lib/format/text.ts';
import { draftOf } from '#lib/server/web/owner/offers/draft.ts';
import { COLUMN_NAMES, offersAction, otherRouters } from '#lib/server/web/owner/offers/page.ts';
import { draftWithSet, setsOf } from '#lib/server/web/owner/offers/sets.ts';
import { ownRouter, requireActiveOwner, requireOwner } from '#lib/server/web/owner/owner.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
	const owner = await requireOwner(event);
	const router = await ownRouter(event, owner);
	const { app } = event.locals;
	const list = await app.offers.ofRouter(owner.actor, router.id);
	const others = await otherRouters(app, owner.actor, router.id);
	const draft = draftOf(list);
	const set = event.url.searchParams.get('set');
	return {
		id: router.id,
		name: router.name,
		currency: router.currency,
		perHour: money(router.price, router.currency),
		draft: list.data.length === 0 ? draftWithSet(draft, set, router) : draft,
		sets: list.data.length === 0 ? await setsOf(app, owner, draft, router) : [],
		saved: list.data.length,
		columns: COLUMN_NAMES,
		days: WEEKDAYS.map((day, index) => ({ day, name: weekdayName(index) })),
		others: others.map(({ id, name }) => ({ id, name })),
		done: event.url.searchParams.has('done')
	};
};

export const actions: Actions = {
	default: async (event) => {
		const owner = await requireActiveOwner(event);
		return offersAction(event, await ownRouter(event, owner), owner.actor);
	}
};
