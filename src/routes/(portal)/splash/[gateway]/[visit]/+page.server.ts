import { error, type RequestEvent } from '@sveltejs/kit';
import * as m from '#lib/i18n/messages.js';
import { placeOrder } from '../../../order.ts';
import { findGateway, findRouter, splashPage } from '../../splash.ts';
import type { Actions, PageServerLoad } from './$types';

type Event = RequestEvent<{ gateway: string; visit: string }>;

async function findVisit(event: Event) {
	const gateway = await findGateway(event);
	const visit = await event.locals.app.captiveSessions.find(gateway, event.params.visit);
	return { gateway, visit };
}

/** The splash page of a captive session, which can be reloaded, translated and posted to. */
export const load: PageServerLoad = async (event) => {
	const { gateway, visit } = await findVisit(event);
	if (!visit) error(410, m.splash_refusal_over());
	return splashPage(event, gateway, visit);
};

export const actions: Actions = {
	/** Buys for the device of this captive session. */
	default: async (event) => {
		const { gateway, visit } = await findVisit(event);
		const { log, captiveSessions } = event.locals.app;
		return placeOrder(
			event,
			() => findRouter(event, gateway),
			async (token) => {
				// The purchase exists, so its page is shown even if this fails.
				const bound = visit ? captiveSessions.bind(visit.id, token) : Promise.resolve(false);
				await bound.catch((problem: unknown) => log.error({ err: problem }, 'a visit could not be noted'));
			}
		);
	}
};
