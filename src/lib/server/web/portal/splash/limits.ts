import type { RequestEvent } from '@sveltejs/kit';
import { networkOf } from '#lib/server/http/client-address.ts';
import { LONGEST_WINDOW_MS, waitSeconds, type RateLimits } from '#lib/server/rate-limits/rate-limits.ts';

/** Returns null if the request is admitted, otherwise the seconds to wait. */
async function waitFor({ locals }: RequestEvent, ...limit: Parameters<RateLimits['take']>) {
	const decision = await locals.app.rateLimits.take(...limit);
	return decision.admitted ? null : waitSeconds(decision);
}

/** Arrivals per network. A whole venue can share one address. */
const CAPTIVE_SESSIONS_PER_MINUTE = 600;

export const takeCaptiveSession = (event: RequestEvent) =>
	waitFor(event, `visits:${networkOf(event.locals.clientAddress())}`, CAPTIVE_SESSIONS_PER_MINUTE);

const SIGN_INS_PER_CAPTIVE_SESSION = 10;

/** The network limit is high, so that one person cannot lock out a venue. */
export const takeSignIn = async (event: RequestEvent, captiveSessionId: string) =>
	(await waitFor(event, `sign-in:${captiveSessionId}`, SIGN_INS_PER_CAPTIVE_SESSION)) ??
	(await waitFor(event, `sign-ins:${networkOf(event.locals.clientAddress())}`, CAPTIVE_SESSIONS_PER_MINUTE));

/** Orders of one captive session, which is one device, in LONGEST_WINDOW_MS. */
const ORDERS_PER_CAPTIVE_SESSION = 10;

export const takeCaptiveSessionOrder = (event: RequestEvent, captiveSessionId: string) =>
	waitFor(event, `order:${captiveSessionId}`, ORDERS_PER_CAPTIVE_SESSION, LONGEST_WINDOW_MS);
