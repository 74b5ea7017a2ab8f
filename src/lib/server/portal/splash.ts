import { findApiBuyerTime } from '#lib/server/passes.ts';
import { networkOf } from '#lib/server/http/client-address.ts';
import { type RequestEvent, error, redirect } from '@sveltejs/kit';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { apiClient } from './api-client.ts';
import type { RouterBody } from '#lib/server/contract/router.ts';
import { ifAvailable, orNull, pagePath, withCaptiveSession } from './pages.ts';
import { readPayPage } from './pay-page.ts';
import { isPurchase, readSessions } from './purchases.ts';
import {
	type RegisteredGateway,
	buildStartAddress,
	findGatewayByKey,
	namesDevices
} from '#lib/server/gateways/gateways.ts';
import {
	type CaptiveSession,
	bindPurchase,
	enterPortal,
	enterPortalAgain,
	findEarlierPurchase,
	openCaptiveSession,
	sellsAt
} from '#lib/server/gateways/captive-sessions.ts';

/**
 * A redirect's parameters become a captive session once; later addresses contain only its id. Prices and
 * hosts never come from the browser.
 */

export async function findGateway(event: RequestEvent<{ gateway: string }>): Promise<RegisteredGateway> {
	const gateway = await findGatewayByKey(event.locals.app.gateways, event.params.gateway);
	if (!gateway) error(404, m.splash_refusal_unknown());
	return gateway;
}

/** Finds the captive session of the address; null if it has expired. */
export async function findCaptiveSession(event: RequestEvent<{ gateway: string; captiveSession: string }>) {
	const gateway = await findGateway(event);
	const captiveSession = await openCaptiveSession(
		event.locals.app.captiveSessions,
		gateway,
		event.params.captiveSession
	);
	return { gateway, captiveSession };
}

export const captiveSessionPath = (gateway: RegisteredGateway, captiveSession: CaptiveSession) =>
	link(`/splash/${gateway.key}/${captiveSession.id}`);

/** Reads a redirect as a captive session, which is stored within limits; null without parameters (typed address, or from DHCP). */
export async function enterCaptiveSession(
	event: RequestEvent,
	gateway: RegisteredGateway,
	fields: URLSearchParams
): Promise<CaptiveSession | null> {
	const { captiveSessions } = event.locals.app;
	const request = {
		method: event.request.method === 'POST' ? ('POST' as const) : ('GET' as const),
		address: readAskedAddress(event),
		host: event.request.headers.get('host') ?? undefined,
		fields
	};
	const entered = await enterPortal(captiveSessions, gateway, request, (mac) =>
		takeCaptiveSession(event, mac)
	);
	if (!('refused' in entered)) {
		await goToOwnPurchase(event, entered);
		return entered;
	}
	if (entered.refused === 'missing') return null;
	error(400, (REFUSALS[entered.refused] ?? m.splash_refusal_broken)());
}

const REFUSALS: Readonly<Record<string, () => string>> = {
	'foreign-host': m.splash_refusal_foreign,
	forged: m.splash_refusal_forged
};

/** The buyer comes from a purchase, and is not asked for it. */
const AGAIN = 'again';

/** Returns the path of a splash page that sells to the same device once more. */
export async function enterAgain(
	event: RequestEvent,
	device: { gateway: RegisteredGateway; entry: CaptiveSession['entry'] }
): Promise<string> {
	const captiveSession = await enterPortalAgain(event.locals.app.captiveSessions, device, (mac) =>
		takeCaptiveSession(event, mac)
	);
	return `${captiveSessionPath(device.gateway, captiveSession)}?${AGAIN}`;
}

/** Returns the address byte by byte: signatures cover these bytes, and parsing would change them. */
function readAskedAddress({ locals, platform, url }: RequestEvent): string {
	const path = platform?.req.url ?? url.pathname + url.search;
	return locals.origin + path;
}

/** Redirects a browser that returns from our sign-in to its purchase, whose address it knows. */
async function goToOwnPurchase(event: RequestEvent, captiveSession: CaptiveSession): Promise<void> {
	const own = parseOwnPurchase(captiveSession.entry.originalUrl, event.locals.origin);
	// Anyone can write such an address, so the purchase must exist.
	if (own === null || !(await isPurchase(event.locals.app.purchases, own.token))) return;
	// The device can sign in again with the captive session of the sign-in, so that one stays.
	if (captiveSession.entry.state === 'online') {
		redirect(303, `${pagePath(own.kind, own.token, own.device)}?online`);
	}
	const { device } = await bindPurchase(event.locals.app.captiveSessions, captiveSession.id, own.token);
	redirect(303, pagePath(own.kind, own.token, device));
}

export async function findRouter(
	event: RequestEvent,
	gateway: RegisteredGateway,
	captiveSession: CaptiveSession | null
): Promise<RouterBody> {
	const router = await orNull(apiClient(event).getRouter(gateway.routerId));
	if (!router) error(404, m.splash_refusal_unknown());
	const sellsHere = await sellsAt(event.locals.app.captiveSessions, gateway, captiveSession?.entry ?? null);
	return sellsHere ? router : { ...router, status: 'offline' };
}

/** Returns the page's data: the router's price and names, and what the gateway says about the device. */
export async function readSplashPage(
	event: RequestEvent,
	gateway: RegisteredGateway,
	captiveSession: CaptiveSession | null
) {
	const isAgain = event.url.searchParams.has(AGAIN);
	const path = captiveSession ? captiveSessionPath(gateway, captiveSession) : link(`/splash/${gateway.key}`);
	return {
		...(await readPayPage(event, () => findRouter(event, gateway, captiveSession), captiveSession !== null)),
		ownPath: isAgain ? `${path}?${AGAIN}` : path,
		captiveSession: captiveSession && {
			state: captiveSession.entry.state,
			problem: captiveSession.entry.problem,
			paidBefore: !isAgain && (await hasPaid(event, gateway, captiveSession))
		},
		/** Contains the captive session, so that the found purchase connects this device. */
		resume: withCaptiveSession(link('/resume'), captiveSession?.id ?? null),
		signIn: captiveSession ? `${path}/sign-in` : null,
		begin: captiveSession ? null : buildStartAddress(gateway),
		/** The gateway connects only known devices, so a purchase without a captive session connects none. */
		buyingLetsNobodyIn: namesDevices(gateway)
	};
}

/** Returns whether a device that the redirect proves has an open or active purchase. */
async function hasPaid(
	event: RequestEvent,
	gateway: RegisteredGateway,
	captiveSession: CaptiveSession
): Promise<boolean> {
	const { app } = event.locals;
	const earlier = await findEarlierPurchase(app.captiveSessions, gateway, captiveSession.entry);
	if (earlier === null) return false;
	if ((await findApiBuyerTime(app, earlier)) !== null) return true;
	const sessions = await ifAvailable(readSessions(app.purchases, apiClient(event), earlier), null);
	// If unknown, the page asks, to avoid a second payment.
	return sessions === null || sessions.some(({ status }) => UNDER_WAY.includes(status));
}

const UNDER_WAY = ['pending_payment', 'activating', 'active'];

interface OwnPurchase {
	kind: 's' | 'pass';
	token: string;
	device: string | null;
}

/**
 * Finds the purchase to open after a sign-in. Gateways return its address with the next redirect: directly,
 * or inside their own sign-in address.
 * @param address the first URL that the browser requested
 * @param origin of this installation; other hosts are ignored
 * @returns what names its page, or null
 */
export function parseOwnPurchase(address: string | null, origin: string): OwnPurchase | null {
	if (address === null || !URL.canParse(address)) return null;
	const asked = new URL(address);
	const candidates = [asked, ...LANDINGS.flatMap((name) => parseLanding(asked, name))];
	for (const url of candidates) {
		if (url.origin !== origin) continue;
		const { kind, token, device = null } = PAGE.exec(url.pathname)?.groups ?? {};
		if (token !== undefined) return { kind: kind === 'pass' ? 'pass' : 's', token, device };
	}
	return null;
}

const PAGE = /^(?:\/[a-z]{2})?\/(?<kind>s|pass)\/(?<token>[\w-]{24})(?:\/(?<device>[0-9a-f]{24}))?$/;

/** Parameters of openNDS, MikroTik and CoovaChilli for the address after the sign-in. */
const LANDINGS = ['redir', 'dst', 'userurl'];

function parseLanding(url: URL, name: string): URL[] {
	const value = url.searchParams.get(name) ?? '';
	return URL.canParse(value) ? [new URL(value)] : [];
}

/** Redirects that are stored in a minute, of a device and of a network. A whole venue can share one address. */
const CAPTIVE_SESSIONS_PER_MINUTE = { device: 10, network: 600 };

/** Returns whether a redirect may be stored. The page is shown in any case. */
async function takeCaptiveSession(event: RequestEvent, mac: string | null): Promise<boolean> {
	const { rateLimits } = event.locals.app;
	const network = networkOf(event.locals.clientAddress());
	const { device, network: most } = CAPTIVE_SESSIONS_PER_MINUTE;
	const ofNetwork = { subject: `visits:${network}`, limit: most };
	if (mac === null) return (await rateLimits.take(ofNetwork.subject, most)).admitted;
	const ofDevice = { subject: `visits:${network}:${mac}`, limit: device };
	return (await rateLimits.takeBoth(ofDevice, ofNetwork)).every((decision) => decision?.admitted !== false);
}
