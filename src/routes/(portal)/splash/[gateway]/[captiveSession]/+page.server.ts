import { error, type RequestEvent } from '@sveltejs/kit';
import * as m from '#lib/i18n/messages.js';
import { placeOrder } from '../../../order.ts';
import { findGateway, findRouter, splashPage } from '../../splash.ts';
import type { Actions, PageServerLoad } from './$types';

type Event = RequestEvent<{ gateway: string; captiveSession: string }>;

async function findCaptiveSession(event: Event) {
	const gateway = await findGateway(event);
	const captiveSession = await event.locals.app.captiveSessions.find(gateway, event.params.captiveSession);
	return { gateway, captiveSession };
}

/** The splash page of a captive session, which can be reloaded, translated and posted to. */
export const load: PageServerLoad = async (event) => {
	const { gateway, captiveSession } = await findCaptiveSession(event);
	if (!captiveSession) error(410, m.splash_refusal_over());
	return splashPage(event, gateway, captiveSession);
};

export const actions: Actions = {
	default: async (event) => {
		const { gateway, captiveSession } = await findCaptiveSession(event);
		return placeOrder(event, () => findRouter(event, gateway), captiveSession);
	}
};
