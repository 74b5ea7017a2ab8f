import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { endOfDay, nextOpen } from '#lib/domain/time/opening-hours.ts';
import { momentText } from '#lib/format/when.ts';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import type { OwnedRouter } from '../../../routers/routers.ts';
import { readFields } from '../../form.ts';
import { authorOf, type OwnerVisitor } from '../owner.ts';
import { routerState } from './router-state.ts';
import { markRouter, pauseRouter } from '../../../routers/edit-router.ts';

export function salesPage({ locals: { app } }: RequestEvent, router: OwnedRouter) {
	const { id, name, disabled, canEnable, openingHours, pausedUntil } = router;
	const [now, timeZone] = [app.clock.now(), app.config.reportTimezone];
	const until = endOfDay(openingHours, now, timeZone);
	const opens = openingHours === null ? until : nextOpen(openingHours, until, timeZone);
	return {
		...{ id, name, disabled, state: routerState(router, { now, timeZone }) },
		canEnable,
		isPaused: pausedUntil !== null,
		/** null if the router is already closed until then. */
		pauseUntil: pausedUntil === until ? null : momentText(new Date(opens), new Date(now), timeZone)
	};
}

/** Runs a form of the page: `do` names the action. */
export async function changeSales(event: RequestEvent, { id }: OwnedRouter, owner: OwnerVisitor) {
	const { routers } = event.locals.app;
	const wanted = (await readFields(event.request)).field('do');
	const author = authorOf(owner);
	switch (wanted) {
		case 'pause':
		case 'reopen':
			await pauseRouter(routers, id, { isPaused: wanted === 'pause', ...author });
			break;
		case 'disable':
		case 'enable': {
			const mark = { isSet: wanted === 'disable', isOwner: true, ...author };
			if (!(await markRouter(routers, id, 'disabled_at', mark)))
				return fail(409, { problem: m.owner_disabled_by_administrator() });
			break;
		}
		default:
			return fail(400, { problem: m.owner_problem() });
	}
	redirect(303, link(`/owner/routers/${id}?done=sales`));
}
