import type { RequestEvent } from '@sveltejs/kit';
import { MAX_BODY_BYTES, readBody } from '../api/http/read-body.ts';
import type { Config } from '../config/config.ts';
import { AppError } from '../platform/errors.ts';

const FORM_TYPES = /^(application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\s*(;|$)/i;
/** Forms with a file. Their actions read the body after they know who sends it. */
const isFileForm = (path: string) =>
	/^(\/[a-z]{2})?\/owner\/(routers\/\d+\/)?brand$/.test(path) || path === '/admin/routers/import';
const CHANGING = ['POST', 'PUT', 'PATCH', 'DELETE'];

/** Programs call these paths. They authenticate themselves and send no Origin. */
export const isApiPath = (path: string) => /^\/+(?:v|%76)(?:1|%31)(?:\/|$)/.test(path);
/**
 * Gateways send browsers to these addresses and set their parameters, including `lang`.
 * A router's login page posts a form here, which only creates a captive session.
 */
export const isGatewayEntry = (path: string) =>
	/^\/splash\/[\w-]+$/.test(path) || /^\/guest\/s\/[\w-]+\/?$/.test(path);
const isCallbackPath = (path: string) => path.startsWith('/callbacks/') || path.startsWith('/opennds/');
const isRadiusPath = (path: string) => path.startsWith('/radius/');

/**
 * Returns the configured address, or the Host header with the protocol that the proxy reports.
 * adapter-node would assume https without a proxy, which breaks a portal on plain http.
 */
export const publicOrigin = (event: RequestEvent, config: Config): string =>
	config.origin ?? originOf(event.request.headers.get('x-forwarded-proto'), event.url.host);

/** @param forwardedProto the header X-Forwarded-Proto */
export function originOf(forwardedProto: string | null, host: string): string {
	// The browser connected to the first of several proxies.
	const [forwarded = ''] = (forwardedProto ?? '').split(',');
	return `${forwarded.trim().toLowerCase() === 'https' ? 'https' : 'http'}://${host}`;
}

/**
 * SvelteKit's own check is off, because it would answer /v1 in plain text.
 * Old WebViews send no Origin, so their Referer decides. A request with neither is refused.
 */
export function isForeignForm(event: RequestEvent): boolean {
	const { request, url } = event;
	if (event.isSubRequest || isApiPath(url.pathname)) return false;
	if (isCallbackPath(url.pathname) || isRadiusPath(url.pathname)) return false;
	if (!CHANGING.includes(request.method)) return false;
	if (request.method === 'POST' && isGatewayEntry(url.pathname)) return false;
	// Another site's script can send a body without a type, and without a preflight request.
	const type = request.headers.get('content-type') ?? '';
	if (type !== '' && !FORM_TYPES.test(type)) return false;
	const site = request.headers.get('sec-fetch-site');
	if (site !== null) return site !== 'same-origin';
	const origin = request.headers.get('origin') ?? request.headers.get('referer');
	if (origin === null) return true;
	// Behind a TLS proxy without ORIGIN the scheme is unknown.
	return !URL.canParse(origin) || new URL(origin).host !== url.host;
}

/**
 * Reads a posted form of at most 16 KiB, because parsing a large one stalls the process. Forms with
 * a file may be larger. Returns false if the form is too large.
 */
export async function limitForm(event: RequestEvent): Promise<boolean> {
	const { request, url } = event;
	if (request.method !== 'POST' || isFileForm(url.pathname)) return true;
	if (!FORM_TYPES.test(request.headers.get('content-type') ?? '')) return true;
	try {
		event.request = new Request(request, { body: Buffer.from(await readBody(request, MAX_BODY_BYTES)) });
		return true;
	} catch (error) {
		if (error instanceof AppError && error.code === 'body_too_large') return false;
		// The page reports an incomplete form.
		return true;
	}
}

const SECURITY_HEADERS: Readonly<Record<string, string>> = {
	'x-content-type-options': 'nosniff',
	// A purchase's address is its key. Our own forms need an Origin.
	'referrer-policy': 'same-origin',
	'cross-origin-opener-policy': 'same-origin',
	'cross-origin-resource-policy': 'same-origin',
	'permissions-policy': 'camera=(), microphone=(), payment=(), usb=(), geolocation=(self)'
};

/** A year; without subdomains, because other hosts of the domain may have no TLS. */
const HTTPS_ONLY = { 'strict-transport-security': 'max-age=31536000' };

export const securityHeaders = ({ origin }: Config): Readonly<Record<string, string>> =>
	origin?.startsWith('https:') ? { ...SECURITY_HEADERS, ...HTTPS_ONLY } : SECURITY_HEADERS;

export function setCommonHeaders(response: Response, { app, requestId }: App.Locals): void {
	for (const [name, value] of Object.entries(securityHeaders(app.config))) response.headers.set(name, value);
	response.headers.set('x-request-id', requestId);
	// Pages show a purchase or contain a token, so no cache may keep them.
	if (!response.headers.has('cache-control')) response.headers.set('cache-control', 'no-store');
}
