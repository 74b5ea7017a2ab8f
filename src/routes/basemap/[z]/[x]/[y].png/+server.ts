import { createHash } from 'node:crypto';
import type { RequestHandler } from './$types';

const DAY_SECONDS = 24 * 60 * 60;
const NUMBER = /^(0|[1-9]\d{0,7})$/;

const none = (status: number, cacheControl: string, more: Record<string, string> = {}) =>
	new Response(null, { status, headers: { 'cache-control': cacheControl, ...more } });

/**
 * One tile of the operator's tile server: a PNG, JPEG or WebP picture. 404 where there is none, 503 with
 * Retry-After while the server is away and the tile was never fetched before.
 */
export const GET: RequestHandler = async ({ params, request, locals }) => {
	const { tiles, maxZoom } = locals.app.basemap;
	const texts = [params.z, params.x, params.y];
	if (!tiles || !texts.every((text) => NUMBER.test(text))) return none(404, 'no-store');
	const [z = 0, x = 0, y = 0] = texts.map(Number);
	if (z > maxZoom || x >= 2 ** z || y >= 2 ** z) return none(404, 'no-store');

	const answer = await tiles.read({ z, x, y });
	if (answer.kind === 'absent') return none(404, `public, max-age=${seconds(answer.freshMs)}`);
	if (answer.kind === 'unavailable') {
		return none(503, 'no-store', { 'retry-after': String(Math.max(1, seconds(answer.waitMs))) });
	}
	const { type, body, freshMs } = answer;
	const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
	const cacheControl = freshMs === null ? 'no-store' : `public, max-age=${seconds(freshMs)}`;
	if (request.headers.get('if-none-match') === etag) return none(304, cacheControl, { etag });
	return new Response(new Uint8Array(body), {
		headers: {
			'content-type': type,
			'content-length': String(body.length),
			'cache-control': cacheControl,
			etag,
			// A picture that pretends to be a page stays a picture.
			'content-security-policy': "default-src 'none'; sandbox"
		}
	});
};

const seconds = (milliseconds: number) => Math.min(Math.floor(milliseconds / 1000), DAY_SECONDS);
