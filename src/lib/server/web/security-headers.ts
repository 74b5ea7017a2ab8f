import type { RequestEvent } from '@sveltejs/kit';
import type { Config } from '../config/config.ts';

/** Headers of every answer to a browser, and the check of posted forms. */

const FORM_TYPES = /^(application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\s*(;|$)/i;
const CHANGING = ['POST', 'PUT', 'PATCH', 'DELETE'];

/** Paths that programs call. They authenticate themselves and send no Origin. */
export const isApiPath = (path: string) => /^\/+(?:v|%76)(?:1|%31)(?:\/|$)/.test(path);
/**
 * Where gateways send browsers: parameters are the gateway's (`lang` too), and a router's own login page posts its form
 * here. Such a form makes a visit and nothing else; nobody's purchase or sign-in is touched by it.
 */
export const isGatewayEntry = (path: string) =>
	/^\/splash\/[\w-]+$/.test(path) || /^\/guest\/s\/[\w-]+\/?$/.test(path);
const isCallbackPath = (path: string) => path.startsWith('/callbacks/') || path.startsWith('/opennds/');
/** RADIUS servers, which show the token of their gateway. */
const isRadiusPath = (path: string) => path.startsWith('/radius/');

/**
 * Public address of this installation: the configured one, else the Host header with the protocol that the
 * proxy reports (adapter-node assumes https without a proxy, which a portal on plain http must not).
 */
export function publicOrigin(event: RequestEvent, config: Config): string {
	return config.origin ?? originOf(event.request.headers.get('x-forwarded-proto'), event.url.host);
}

/** @param forwardedProto the header X-Forwarded-Proto */
export function originOf(forwardedProto: string | null, host: string): string {
	// Of several proxies the first one is the one that the browser talked to.
	const [forwarded = ''] = (forwardedProto ?? '').split(',');
	return `${forwarded.trim().toLowerCase() === 'https' ? 'https' : 'http'}://${host}`;
}

/**
 * A form that another site sends: SvelteKit's own check is off because it would answer /v1 in plain text. A
 * browser that sends no Origin (old WebViews) is judged by its Referer; one that sends neither is refused.
 */
export function isForeignForm(event: RequestEvent): boolean {
	const { request, url } = event;
	if (event.isSubRequest || isApiPath(url.pathname)) return false;
	if (isCallbackPath(url.pathname) || isRadiusPath(url.pathname)) return false;
	if (!CHANGING.includes(request.method)) return false;
	if (request.method === 'POST' && isGatewayEntry(url.pathname)) return false;
	// A script of another site can also send a body without a type, and nobody asks it before.
	const type = request.headers.get('content-type') ?? '';
	if (type !== '' && !FORM_TYPES.test(type)) return false;
	const site = request.headers.get('sec-fetch-site');
	if (site !== null) return site !== 'same-origin';
	const origin = request.headers.get('origin') ?? request.headers.get('referer');
	if (origin === null) return true;
	// The scheme is not compared: behind a TLS proxy without ORIGIN it is not known here.
	return !URL.canParse(origin) || new URL(origin).host !== url.host;
}

export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
	'x-content-type-options': 'nosniff',
	// The address of a purchase is its key: it must not travel to other sites, but our own forms need an Origin.
	'referrer-policy': 'same-origin',
	'cross-origin-opener-policy': 'same-origin',
	'cross-origin-resource-policy': 'same-origin',
	'permissions-policy': 'camera=(), microphone=(), payment=(), usb=(), geolocation=(self)'
};

export function setCommonHeaders(response: Response, requestId: string): void {
	for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.headers.set(name, value);
	response.headers.set('x-request-id', requestId);
	// Pages show one person's purchase or a token of their own; nothing of it may be kept by a cache on the way.
	if (!response.headers.has('cache-control')) response.headers.set('cache-control', 'no-store');
}
