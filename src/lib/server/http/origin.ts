import type { RequestEvent } from '@sveltejs/kit';
import type { Config } from '../config/config.ts';
import type { Log } from '../platform/log.ts';

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
 * forms work under any name (csrf.ts).
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
	return ({ request, url, isSubRequest, isDataRequest }) => {
		const { method, headers } = request;
		if (isReplaced || isSubRequest || isDataRequest || !['GET', 'HEAD'].includes(method)) return null;
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
