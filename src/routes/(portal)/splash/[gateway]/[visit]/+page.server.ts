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

/** The same page under the address of its visit, which can be reloaded, translated and posted to. */
export const load: PageServerLoad = async (event) => {
	const { gateway, visit } = await findVisit(event);
	if (!visit) error(410, m.splash_refusal_over());
	return splashPage(event, gateway, visit);
};

export const actions: Actions = {
	/** Buys on this visit: the purchase lets the visit's device online. */
	default: async (event) => {
		const { gateway, visit } = await findVisit(event);
		const { log, captiveSessions } = event.locals.app;
		return placeOrder(
			event,
			() => findRouter(event, gateway),
			async (token) => {
				// A purchase that is made is shown, whatever else fails.
				const bound = visit ? captiveSessions.bind(visit.id, token) : Promise.resolve(false);
				await bound.catch((problem: unknown) => log.error({ err: problem }, 'a visit could not be noted'));
			}
		);
	}
};
