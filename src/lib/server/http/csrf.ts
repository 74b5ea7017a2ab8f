import type { RequestEvent } from '@sveltejs/kit';
import { FORM_TYPES } from './form-size.ts';
import { isApiPath, isCallPath, isGatewayEntry } from './machine-paths.ts';

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
