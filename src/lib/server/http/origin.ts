import type { RequestEvent } from '@sveltejs/kit';
import type { Config } from '../config/config.ts';

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
