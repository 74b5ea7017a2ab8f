import type { RequestEvent } from '@sveltejs/kit';
import type { Config } from '../config/config.ts';

/** Headers of every answer to a browser, and the check of posted forms. */

const FORM_TYPES = /^(application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\s*(;|$)/i;
const CHANGING = ['POST', 'PUT', 'PATCH', 'DELETE'];

/** Paths that programs call. They authenticate themselves and send no Origin. */
export const isApiPath = (path: string) => /^\/+(?:v|%76)(?:1|%31)(?:\/|$)/.test(path);
/**
 * Addresses to which gateways send browsers. Their parameters (`lang` too) are the gateway's, and the login page of a
 * router posts a form here, which only creates a captive session.
 */
export const isGatewayEntry = (path: string) =>
	/^\/splash\/[\w-]+$/.test(path) || /^\/guest\/s\/[\w-]+\/?$/.test(path);
const isCallbackPath = (path: string) => path.startsWith('/callbacks/') || path.startsWith('/opennds/');
/** RADIUS servers send the token of their gateway. */
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
	// The browser talked to the first of several proxies.
	const [forwarded = ''] = (forwardedProto ?? '').split(',');
	return `${forwarded.trim().toLowerCase() === 'https' ? 'https' : 'http'}://${host}`;
}

/**
 * Tells if another site sent a form. SvelteKit's own check is off, because it would answer /v1 in plain text. Old
 * WebViews send no Origin, so their Referer decides; a request with neither is refused.
 */
export function isForeignForm(event: RequestEvent): boolean {
	const { request, url } = event;
	if (event.isSubRequest || isApiPath(url.pathname)) return false;
	if (isCallbackPath(url.pathname) || isRadiusPath(url.pathname)) return false;
	if (!CHANGING.includes(request.method)) return false;
	if (request.method === 'POST' && isGatewayEntry(url.pathname)) return false;
	// A script of another site can send a body without a type, without a preflight request.
	const type = request.headers.get('content-type') ?? '';
	if (type !== '' && !FORM_TYPES.test(type)) return false;
	const site = request.headers.get('sec-fetch-site');
	if (site !== null) return site !== 'same-origin';
	const origin = request.headers.get('origin') ?? request.headers.get('referer');
	if (origin === null) return true;
	// Behind a TLS proxy without ORIGIN the scheme is unknown.
	return !URL.canParse(origin) || new URL(origin).host !== url.host;
}

export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
	'x-content-type-options': 'nosniff',
	// The address of a purchase is its key. Our own forms need an Origin.
	'referrer-policy': 'same-origin',
	'cross-origin-opener-policy': 'same-origin',
	'cross-origin-resource-policy': 'same-origin',
	'permissions-policy': 'camera=(), microphone=(), payment=(), usb=(), geolocation=(self)'
};

export function setCommonHeaders(response: Response, requestId: string): void {
	for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.headers.set(name, value);
	response.headers.set('x-request-id', requestId);
	// Pages show a purchase or contain a token, so no cache may keep them.
	if (!response.headers.has('cache-control')) response.headers.set('cache-control', 'no-store');
}
