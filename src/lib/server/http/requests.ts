import type { RequestEvent } from '@sveltejs/kit';
import type { Config } from '../config/config.ts';
import type { Log } from '../platform/log.ts';
import { Refused } from '#lib/server/platform/errors.ts';
import { waitOutside } from './turns.ts';

/**
 * What all requests share: which paths are for programs, the public origin, limits of bodies and forms, the check
 * against foreign forms, and headers.
 */

/** Programs call these paths. They authenticate themselves and send no Origin. */
export const isApiPath = (path: string) => /^\/+(?:v|%76)(?:1|%31)(?:\/|$)/.test(path);
export const isCallPath = (path: string) => /^\/(callbacks|mikrotik|opennds|radius)\//.test(path);
/**
 * Gateways send browsers to these addresses and set their parameters, including `lang`.
 * A router's login page posts a form here, which only creates a captive session.
 */
export const isGatewayEntry = (path: string) =>
	/^\/splash\/[\w-]+$/.test(path) || /^\/guest\/s\/[\w-]+\/?$/.test(path);

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
 * Pages of a device that may reach only the address that it has used: it is behind a gateway, and has paid or pays. Their
 * forms work under any name.
 */
const BEHIND_GATEWAY = /^(\/[a-z]{2})?\/(splash|guest|captive-portal|s|pass|resume)(\/|$)/;

/** Marks the address to which a page was led. A proxy that replaces the Host header would lead it there for ever. */
const LED = 'led';

/**
 * Leads a page that was opened by another name to ORIGIN, where people are signed in and links point. Programs, which do
 * not accept text/html, stay.
 * @returns a function that returns the redirect, or null
 */
export function createLeadToOrigin({ origin }: Config, log: Log): (event: RequestEvent) => Response | null {
	if (origin === null) return () => null;
	const own = new URL(origin);
	let isReplaced = false;
	return ({ request, url, isSubRequest }) => {
		const { method, headers } = request;
		if (isReplaced || isSubRequest || !['GET', 'HEAD'].includes(method)) return null;
		if (!headers.get('accept')?.includes('text/html') || BEHIND_GATEWAY.test(url.pathname)) return null;
		const isLed = url.searchParams.has(LED);
		const isOwn = namesOf(headers, own.protocol).some(
			// A proxy on this machine may replace the name, and ORIGIN may not be reachable from the machine itself.
			(name) => name.host === own.host || (isLoopback(name) && !isLoopback(own))
		);
		if (isOwn) return isLed ? redirect('', url, false) : null;
		if (!isLed) return redirect(own.origin, url, true);
		isReplaced = true;
		log.warn('a proxy replaces the Host header, so pages opened by another name are not led to ORIGIN');
		return null;
	};
}

function redirect(origin: string, { pathname, searchParams }: URL, isLed: boolean): Response {
	const search = new URLSearchParams(searchParams);
	search.delete(LED);
	if (isLed) search.set(LED, '1');
	const query = search.size > 0 ? `?${search}` : '';
	// Two slashes would name another host.
	const location = origin + pathname.replace(/^\/+/, '/') + query;
	return new Response(null, { status: 307, headers: { location } });
}

/** Returns the names by which the browser may have called: proxies send the one that they replace in X-Forwarded-Host. */
function namesOf(headers: Headers, protocol: string): URL[] {
	const sent = [headers.get('host') ?? '', ...(headers.get('x-forwarded-host') ?? '').split(',')];
	const addresses = sent.map((name) => `${protocol}//${name.trim()}`);
	return addresses.filter((address) => URL.canParse(address)).map((address) => new URL(address));
}

const isLoopback = ({ hostname }: URL): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);

const FORM_TYPES = /^(application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\s*(;|$)/i;

/** Forms with a file. Their actions read the body after they know who sends it (`readFields`). */
const isFileForm = ({ pathname, searchParams }: URL, type: string) =>
	/^multipart\/form-data\s*;/i.test(type) &&
	((/^(\/[a-z]{2})?\/owner\/settings$/.test(pathname) && searchParams.has('/brand')) ||
		pathname === '/admin/routers/import');

/**
 * Reads a posted form of at most 16 KiB, because parsing a large one stalls the process. Forms with
 * a file may be larger. Returns false if the form is too large.
 */
export async function limitForm(event: RequestEvent): Promise<boolean> {
	const { request, url } = event;
	const type = request.headers.get('content-type') ?? '';
	if (request.method !== 'POST' || !FORM_TYPES.test(type) || isFileForm(url, type)) return true;
	try {
		event.request = new Request(request, { body: Buffer.from(await readBody(request, MAX_BODY_BYTES)) });
		return true;
	} catch (error) {
		if (error instanceof Refused && error.reason === 'body_too_large') return false;
		// The page reports an incomplete form.
		return true;
	}
}

const CHANGING = ['POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * SvelteKit's own check is off, because it would answer /v1 in plain text.
 * Old WebViews send no Origin, so their Referer decides. A request with neither is refused.
 */
export function isForeignForm(event: RequestEvent): boolean {
	const { request, url } = event;
	if (event.isSubRequest || isApiPath(url.pathname) || isCallPath(url.pathname)) return false;
	if (!CHANGING.includes(request.method)) return false;
	if (request.method === 'POST' && isGatewayEntry(url.pathname)) return false;
	// Another site's script can send a body without a type, and without a preflight request.
	const type = request.headers.get('content-type') ?? '';
	if (type !== '' && !FORM_TYPES.test(type)) return false;
	const site = request.headers.get('sec-fetch-site');
	if (site !== null) return site !== 'same-origin';
	const origin = request.headers.get('origin') ?? request.headers.get('referer');
	if (origin === null) return true;
	// Behind a TLS proxy without ORIGIN the scheme is unknown. With ORIGIN the page may have been opened by another name,
	// to which its form is sent: no other site can do that, and browsers send no cookies of ours to it.
	const names = [url.host, request.headers.get('host')];
	return !URL.canParse(origin) || !names.includes(new URL(origin).host);
}

export const MAX_BODY_BYTES = 16 * 1024;

/** Reads a body of at most `maxBytes`. @throws Refused `body_too_large | invalid_json` */
export const readBody = (request: Request, maxBytes: number): Promise<Uint8Array> =>
	waitOutside(readAll(request, maxBytes));

async function readAll(request: Request, maxBytes: number): Promise<Uint8Array> {
	if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes);
	if (!request.body) return new Uint8Array();
	const chunks: Uint8Array[] = [];
	let length = 0;
	const reader = request.body.getReader();
	for (;;) {
		const { done, value } = await reader.read().catch(unread);
		if (done) break;
		length += value.length;
		if (length > maxBytes) throw tooLarge(maxBytes);
		chunks.push(value);
	}
	return Buffer.concat(chunks);
}

export const tooLarge = (maxBytes: number) =>
	new Refused('body_too_large', `Send at most ${maxBytes} bytes.`);

/** The sender disconnected or sent invalid framing. */
export const brokeOff = () => new Refused('invalid_json', 'The body is incomplete.');

/** adapter-node enforces its BODY_SIZE_LIMIT while the body is read. */
function unread(error: unknown): never {
	const isTooLarge = typeof error === 'object' && error !== null && 'status' in error && error.status === 413;
	throw isTooLarge ? new Refused('body_too_large', 'The body is too large.') : brokeOff();
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
