import { error, redirect, type RequestEvent } from '@sveltejs/kit';
import * as m from '#lib/i18n/messages.js';
import { apiClient } from '#lib/server/portal/api-client.ts';
import { orUnavailable, pagePath, readTexts } from '#lib/server/portal/pages.ts';
import { placeOrder } from '#lib/server/portal/pay-page.ts';
import { findCaptiveSession, findRouter, readSplashPage } from '#lib/server/portal/splash.ts';
import type { Actions, PageServerLoad } from './$types';
import { continuePurchase } from '#lib/server/portal/ordering.ts';

/** The splash page of a captive session, which can be reloaded, translated and posted to. */
export const load: PageServerLoad = async (event) => {
	const { gateway, captiveSession } = await findCaptiveSession(event);
	if (!captiveSession) error(410, m.splash_refusal_over());
	return readSplashPage(event, gateway, captiveSession);
};

export const actions: Actions = {
	default: async (event) => {
		const { gateway, captiveSession } = await findCaptiveSession(event);
		if (captiveSession) {
			return placeOrder(event, () => findRouter(event, gateway, captiveSession), captiveSession);
		}
		return goToOrdered(event);
	}
};

/** A repeated form leads to its purchase. A new order would connect no device, so it is refused. */
async function goToOrdered(event: RequestEvent): Promise<never> {
	const { purchase: token } = await readTexts(event.request, ['purchase']);
	const ordered = continuePurchase(event.locals.app.purchases, apiClient(event), token);
	if (await orUnavailable(ordered, m.splash_refusal_over())) redirect(303, pagePath('s', token));
	error(410, m.splash_refusal_unsold());
}
