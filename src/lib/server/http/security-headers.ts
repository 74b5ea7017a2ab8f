import type { Config } from '../config/config.ts';

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
