import { error, redirect, type RequestEvent } from '@sveltejs/kit';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { formatMoney } from '#lib/domain/money.ts';
import { phoneHint } from '#lib/checkout/phone-hint.ts';
import { apiClient, ApiUnavailable } from '#lib/server/portal/api-client.ts';
import type { RouterBody } from '#lib/server/api/contract/schemas.ts';
import { showBrand } from '#lib/server/web/brand.ts';
import { takeVisit } from '#lib/server/api/http/limits.ts';
import { orUnavailable, orNull } from '../api-errors.ts';
import { payFormRouter } from '../order.ts';
import { ownPurchase } from './own-purchase.ts';

/**
 * The splash page: where a gateway sends a device that has no internet. What it hands over becomes a visit, once; from
 * then on the visit's id stands in the address, and nothing that the browser says decides about prices or hosts.
 */

type App = RequestEvent['locals']['app'];
type RegisteredGateway = NonNullable<Awaited<ReturnType<App['gateways']['byKey']>>>;
type Visit = NonNullable<Awaited<ReturnType<App['captiveSessions']['find']>>>;

/** The gateway of the key in the address. */
export async function findGateway(event: RequestEvent<{ gateway: string }>): Promise<RegisteredGateway> {
	const gateway = await event.locals.app.gateways.byKey(event.params.gateway);
	if (!gateway) error(404, m.splash_refusal_unknown());
	return gateway;
}

/** Under the language of the address. */
export const visitPath = (gateway: RegisteredGateway, visit: Visit) =>
	link(`/splash/${gateway.key}/${visit.id}`);

/**
 * Takes in what a gateway hands over.
 * @returns null when it handed nothing over: somebody typed the address, or a phone knew it from DHCP
 */
export async function enter(
	event: RequestEvent,
	gateway: RegisteredGateway,
	fields: URLSearchParams
): Promise<Visit | null> {
	const wait = await takeVisit(event);
	if (wait !== null) error(503, { message: m.common_prices_unreachable(), retryAfterSeconds: wait });
	const { captiveSessions } = event.locals.app;
	const entered = await captiveSessions.enter(gateway, {
		method: event.request.method === 'POST' ? 'POST' : 'GET',
		address: askedAddress(event),
		fields
	});
	if (!('refused' in entered)) {
		await goToOwnPurchase(event, entered);
		return entered;
	}
	switch (entered.refused) {
		case 'missing':
			return null;
		case 'foreign-host':
			error(400, m.splash_refusal_foreign());
			break;
		case 'forged':
			error(400, m.splash_refusal_forged());
			break;
		default:
			error(400, m.splash_refusal_broken());
	}
}

/** The address byte by byte as it was asked for: signatures are made over that, and parsing it would change it. */
function askedAddress({ locals, platform, url }: RequestEvent): string {
	const path = platform?.req.url ?? url.pathname + url.search;
	return locals.origin + path;
}

/** A browser that comes back from a sign-in of ours goes to its purchase: it knows the purchase's address. */
async function goToOwnPurchase(event: RequestEvent, visit: Visit): Promise<void> {
	const own = ownPurchase(visit.entry.originalUrl, event.locals.origin);
	// Anybody can write such an address: no visit is kept for a purchase that there is not.
	if (own === null || !(await event.locals.app.purchases.exists(own.token))) return;
	await event.locals.app.captiveSessions.bind(visit.id, own.token);
	redirect(303, link(own.path) + (visit.entry.state === 'online' ? '?online' : ''));
}

/** @returns null when the service cannot be asked and a form was sent: that is shown instead */
async function routerToShow(event: RequestEvent, gateway: RegisteredGateway): Promise<RouterBody | null> {
	const find = () => findRouter(event, gateway);
	if (event.request.method !== 'POST') return orUnavailable(find(), m.common_prices_unreachable());
	try {
		return await find();
	} catch (problem) {
		if (problem instanceof ApiUnavailable) return null;
		throw problem;
	}
}

export async function findRouter(event: RequestEvent, gateway: RegisteredGateway): Promise<RouterBody> {
	const router = await orNull(apiClient(event).recent.getRouter(gateway.routerId));
	if (!router) error(404, m.splash_refusal_unknown());
	// The router may have another gateway that is heard: that one lets in nobody who is here.
	return gateway.unresponsiveSince === null ? router : { ...router, status: 'offline' };
}

/** The data of the page: the router's price and names, and the gateway's statements about the device. */
export async function splashPage(event: RequestEvent, gateway: RegisteredGateway, visit: Visit | null) {
	const { config, purchases, captiveSessions } = event.locals.app;
	const router = await routerToShow(event, gateway);
	return {
		router: router && payFormRouter(router),
		brand: showBrand(event, router),
		price: router ? m.router_per_hour({ money: formatMoney(router.price, router.currency) }) : '',
		online: router?.status === 'online',
		hint: phoneHint(config.defaultRegion),
		purchase: purchases.newToken(),
		ownPath: visit ? visitPath(gateway, visit) : link(`/splash/${gateway.key}`),
		visit: visit && {
			state: visit.entry.state,
			problem: visit.entry.problem,
			paidBefore: await hasPaid(event, gateway, visit)
		},
		/** Carries the visit, so that the purchase that is found lets this device online. */
		resume: link('/resume') + (visit ? `?visit=${visit.id}` : ''),
		/** For buyers of another app, through the API of this installation. */
		signIn: visit ? `${visitPath(gateway, visit)}/sign-in` : null,
		/** Address of the gateway's own sign-in page. */
		begin: visit ? null : captiveSessions.startAddress(gateway),
		/** Without its device a purchase begins at once: a gateway that has to be told of devices hears of none. */
		buyingLetsNobodyIn: captiveSessions.needsDevice(gateway)
	};
}

/**
 * Whether the device that it claims to be has a purchase under way or running. Nothing of that purchase is told: whoever
 * made it has its code.
 */
async function hasPaid(event: RequestEvent, gateway: RegisteredGateway, visit: Visit): Promise<boolean> {
	const { apiBuyers, purchases, captiveSessions } = event.locals.app;
	const earlier = await captiveSessions.earlierPurchase(gateway, visit.entry.clientMac);
	if (earlier !== null && (await apiBuyers.endOf(earlier)) !== null) return true;
	const ids = earlier === null ? [] : await purchases.sessionsOf(earlier);
	try {
		const { recent } = apiClient(event);
		const sessions = await Promise.all(ids.map((id) => orNull(recent.getSession(id))));
		return sessions.some((session) => session !== null && UNDER_WAY.includes(session.status));
	} catch (problem) {
		// Not known: then it is better asked.
		if (problem instanceof ApiUnavailable) return true;
		throw problem;
	}
}

const UNDER_WAY = ['pending_payment', 'activating', 'active'];
