import { error, fail, redirect } from '@sveltejs/kit';
import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import { readTexts } from '#lib/checkout/pay-form.ts';
import { takeWrongSignIn } from '#lib/server/web/portal/splash/limits.ts';
import { showBrand } from '#lib/server/web/brand.ts';
import { orUnavailable, readForm } from '#lib/server/web/portal/api-errors.ts';
import { limitedText } from '#lib/server/web/portal/resume.ts';
import { pagePath } from '#lib/server/web/portal/purchase/page-path.ts';
import { captiveSessionPath, findCaptiveSession, findRouter } from '#lib/server/web/portal/splash/splash.ts';
import type { Actions, PageServerLoad } from './$types';

/** Signs in a buyer of the API: binds this captive session's device to the username's pass. */
export const load: PageServerLoad = async (event) => {
	const { gateway, captiveSession } = await findCaptiveSession(event);
	if (!captiveSession) error(410, m.splash_refusal_over());
	const router = await orUnavailable(
		findRouter(event, gateway, captiveSession),
		m.common_prices_unreachable()
	);
	return {
		brand: showBrand(event, router),
		ssid: apart(router.ssid),
		back: captiveSessionPath(gateway, captiveSession)
	};
};

export const actions: Actions = {
	default: async (event) => {
		const { gateway, captiveSession } = await findCaptiveSession(event);
		if (!captiveSession) error(410, m.splash_refusal_over());
		const { apiBuyers, captiveSessions } = event.locals.app;
		const { user, password } = readTexts(await readForm(event.request), ['user', 'password']);
		const token = await apiBuyers.signIn(gateway.routerId, { user, password });
		if (token === null) {
			const seconds = await takeWrongSignIn(event, captiveSession.device);
			if (seconds === null) return fail(404, { user, password, why: m.splash_sign_in_unknown() });
			event.setHeaders({ 'retry-after': String(seconds) });
			return fail(429, { user, password, why: limitedText(seconds) });
		}
		const { device } = await captiveSessions.bindPurchase(captiveSession.id, token);
		redirect(303, pagePath('pass', token, device));
	}
};
