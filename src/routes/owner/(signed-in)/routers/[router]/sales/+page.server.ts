import { fail, redirect } from '@sveltejs/kit';
import { endOfDay, nextOpen } from '#lib/domain/opening-hours.ts';
import { momentText } from '#lib/format/when.ts';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { readFields } from '#lib/server/web/form.ts';
import { authorOf, ownRouter, requireActiveOwner, requireOwner } from '#lib/server/web/owner/owner.ts';
import { routerState } from '#lib/server/web/owner/router/router-state.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
	const owner = await requireOwner(event);
	const router = await ownRouter(event, owner);
	const { clock, config } = event.locals.app;
	const [now, timeZone] = [clock.now(), config.reportTimezone];
	const until = endOfDay(router.openingHours, now, timeZone);
	const opens = router.openingHours === null ? until : nextOpen(router.openingHours, until, timeZone);
	return {
		id: router.id,
		name: router.name,
		state: routerState(router, { now, timeZone }),
		disabled: router.disabled,
		canEnable: router.canEnable || owner.actor.role === 'admin',
		isPaused: router.pausedUntil !== null,
		/** null if the router is already closed until then. */
		pauseUntil: router.pausedUntil === until ? null : momentText(new Date(opens), new Date(now), timeZone)
	};
};

export const actions: Actions = {
	default: async (event) => {
		const owner = await requireActiveOwner(event);
		const { id } = await ownRouter(event, owner);
		const { routers } = event.locals.app;
		const { field } = await readFields(event.request);
		const author = authorOf(owner);
		const isOwner = owner.actor.role !== 'admin';
		switch (field('do')) {
			case 'pause':
			case 'reopen':
				await routers.pause(id, { isPaused: field('do') === 'pause', ...author });
				break;
			case 'disable':
			case 'enable': {
				const isSet = field('do') === 'disable';
				const isDone = await routers.mark(id, 'disabled_at', { isSet, isOwner, ...author });
				if (!isDone) return fail(409, { problem: m.owner_disabled_by_administrator() });
				break;
			}
			default:
				return fail(400, { problem: m.owner_problem() });
		}
		redirect(303, link(`/owner/routers/${id}?done=sales`));
	}
};
