import { signInApiBuyer } from '#lib/server/passes.ts';
import { networkOf } from '#lib/server/http/client-address.ts';
import { type RateLimits, waitSeconds } from '#lib/server/rate-limits.ts';
import { error, fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import { showBrand } from '#lib/server/portal/brand.ts';
import { formatLimited, orUnavailable, pagePath, readTexts } from '#lib/server/portal/pages.ts';
import { captiveSessionPath, findCaptiveSession, findRouter } from '#lib/server/portal/splash.ts';
import type { Actions, PageServerLoad } from './$types';
import { bindPurchase } from '#lib/server/gateways/captive-sessions.ts';

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
		const { app } = event.locals;
		const { user, password } = await readTexts(event.request, ['user', 'password']);
		const token = await signInApiBuyer(app, gateway.routerId, { user, password });
		if (token === null) {
			const seconds = await takeWrongSignIn(event, captiveSession.device);
			if (seconds === null) return fail(404, { user, password, why: m.splash_sign_in_unknown() });
			event.setHeaders({ 'retry-after': String(seconds) });
			return fail(429, { user, password, why: formatLimited(seconds) });
		}
		const { device } = await bindPurchase(app.captiveSessions, captiveSession.id, token);
		redirect(303, pagePath('pass', token, device));
	}
};

const SIGN_INS_PER_CAPTIVE_SESSION = 10;
const SIGN_INS_PER_NETWORK = 600;

/** Counts a wrong password: right ones pass, so that one guest cannot lock out a venue. */
const takeWrongSignIn = async (event: RequestEvent, device: string) =>
	(await findWait(event, `sign-in:${device}`, SIGN_INS_PER_CAPTIVE_SESSION)) ??
	(await findWait(event, `sign-ins:${networkOf(event.locals.clientAddress())}`, SIGN_INS_PER_NETWORK));

/** Returns null if the request is admitted, otherwise the seconds to wait. */
async function findWait({ locals }: RequestEvent, ...limit: Parameters<RateLimits['take']>) {
	const decision = await locals.app.rateLimits.take(...limit);
	return decision.admitted ? null : waitSeconds(decision);
}
