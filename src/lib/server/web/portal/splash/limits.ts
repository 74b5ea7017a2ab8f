import type { RequestEvent } from '@sveltejs/kit';
import { FIRST_PROMPTS } from '#lib/server/http/redirected-device.ts';
import { networkOf } from '#lib/server/http/client-address.ts';
import { LONGEST_WINDOW_MS, waitSeconds, type RateLimits } from '#lib/server/rate-limits/rate-limits.ts';

/** Returns null if the request is admitted, otherwise the seconds to wait. */
async function waitFor({ locals }: RequestEvent, ...limit: Parameters<RateLimits['take']>) {
	const decision = await locals.app.rateLimits.take(...limit);
	return decision.admitted ? null : waitSeconds(decision);
}

/** Redirects that are stored in a minute, of a device and of a network. A whole venue can share one address. */
const CAPTIVE_SESSIONS_PER_MINUTE = { device: 10, network: 600 };

/** Returns whether a redirect may be stored. The page is shown in any case. */
export async function takeCaptiveSession(event: RequestEvent, mac: string | null): Promise<boolean> {
	const { rateLimits } = event.locals.app;
	const network = networkOf(event.locals.clientAddress());
	const { device, network: most } = CAPTIVE_SESSIONS_PER_MINUTE;
	const ofNetwork = { subject: `visits:${network}`, limit: most };
	if (mac === null) return (await rateLimits.take(ofNetwork.subject, most)).admitted;
	const ofDevice = { subject: `visits:${network}:${mac}`, limit: device };
	return (await rateLimits.takeBoth(ofDevice, ofNetwork)).every((decision) => decision?.admitted !== false);
}

const SIGN_INS_PER_CAPTIVE_SESSION = 10;
const SIGN_INS_PER_NETWORK = 600;

/** Counts a wrong password: right ones pass, so that one guest cannot lock out a venue. */
export const takeWrongSignIn = async (event: RequestEvent, device: string) =>
	(await waitFor(event, `sign-in:${device}`, SIGN_INS_PER_CAPTIVE_SESSION)) ??
	(await waitFor(event, `sign-ins:${networkOf(event.locals.clientAddress())}`, SIGN_INS_PER_NETWORK));

/** Orders of one captive session in LONGEST_WINDOW_MS. */
const ORDERS_PER_CAPTIVE_SESSION = 10;

/**
 * Counts an order, or a payment of it, of a device that a gateway redirected. Tells the API about the device, so that one
 * guest with many orders does not stop the others of the network.
 * @param name of its captive session
 * @param mac as the device says
 * @returns null if the order is admitted, otherwise the seconds to wait
 */
export async function takeDeviceOrder(event: RequestEvent, name: string, mac: string | null) {
	const { rateLimits } = event.locals.app;
	const decision = await rateLimits.take(`order:${name}`, ORDERS_PER_CAPTIVE_SESSION, LONGEST_WINDOW_MS);
	if (!decision.admitted) return waitSeconds(decision);
	const orders = ORDERS_PER_CAPTIVE_SESSION - decision.remaining;
	event.locals.redirectedDevice = { mac, isFirst: orders <= FIRST_PROMPTS };
	return null;
}
