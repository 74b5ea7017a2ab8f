import { createHash } from 'node:crypto';
import type { RequestHandler } from './$types';

const TEN_MINUTES_SECONDS = 600;
const NUMBER = /^(0|[1-9]\d{0,7})$/;

const none = (status: number, cacheControl: string, more: Record<string, string> = {}) =>
	new Response(null, { status, headers: { 'cache-control': cacheControl, ...more } });

/** A PNG, JPEG or WebP tile. 404: no such tile. 503 with Retry-After: the tile server fails, cache empty. */
export const GET: RequestHandler = async ({ params, request, locals }) => {
	const { tiles, maxZoom } = locals.app.basemap;
	const texts = [params.z, params.x, params.y];
	if (!tiles || !texts.every((text) => NUMBER.test(text))) return none(404, 'no-store');
	const [z = 0, x = 0, y = 0] = texts.map(Number);
	if (z > maxZoom || x >= 2 ** z || y >= 2 ** z) return none(404, 'no-store');

	const answer = await tiles.read({ z, x, y });
	if (answer.kind === 'absent') return none(404, `public, max-age=${TEN_MINUTES_SECONDS}`);
	if (answer.kind === 'unavailable') {
		return none(503, 'no-store', { 'retry-after': String(answer.retrySeconds) });
	}
	const { type, body, cacheControl, ageSeconds } = answer;
	const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
	const caching = { etag, 'cache-control': cacheControl, age: String(ageSeconds) };
	if (request.headers.get('if-none-match') === etag)
		return new Response(null, { status: 304, headers: caching });
	return new Response(new Uint8Array(body), {
		headers: {
			...caching,
			'content-type': type,
			'content-length': String(body.length),
			// Browsers must not run a tile as a page.
			'content-security-policy': "default-src 'none'; sandbox"
		}
	});
};
