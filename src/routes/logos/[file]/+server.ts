import { apiClient } from '#lib/server/portal/api-client.ts';
import type { RequestHandler } from './$types';

/** The sandbox stops scripts in a stored SVG logo that is opened as a document. */
const HEADERS: Readonly<Record<string, string>> = {
	'content-security-policy': "default-src 'none'; sandbox",
	'x-content-type-options': 'nosniff',
	'cache-control': 'public, max-age=31536000, immutable',
	'content-disposition': 'inline'
};

/**
 * The name is a hash of the bytes and serves as the ETag. A portal of a remote service relays that service's
 * logo, because buyers reach only this host.
 */
export const GET: RequestHandler = async (event) => {
	const { app } = event.locals;
	const { file } = event.params;
	const logo = app.config.remoteApi ? await apiClient(event).readLogo(file) : await app.branding.logo(file);
	if (!logo) return new Response('No such logo.\n', { status: 404 });
	const headers = { ...HEADERS, etag: `"${file}"` };
	if ((event.request.headers.get('if-none-match') ?? '').includes(headers.etag)) {
		return new Response(null, { status: 304, headers });
	}
	return new Response(new Uint8Array(logo.bytes), { headers: { ...headers, 'content-type': logo.type } });
};
