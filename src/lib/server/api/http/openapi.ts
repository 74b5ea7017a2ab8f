import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { documentText } from '../document/document.ts';

/** The OpenAPI document as it is served: with the address of this installation, made when it is first asked for. */

interface Served {
	origin: string;
	etag: string;
	plain: Buffer;
	packed: Buffer;
}

/** Of the last address: an installation rarely has more than one. */
let last: Served | null = null;

function served(origin: string): Served {
	if (last?.origin === origin) return last;
	const plain = Buffer.from(documentText(origin));
	// Weak: it stands for the compressed and the plain form.
	const etag = `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
	last = { origin, etag, plain, packed: gzipSync(plain) };
	return last;
}

const isKnown = (header: string | null, etag: string) =>
	(header ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag.replace(/^W\//, ''));

/** GET /openapi.json; `origin` is the public address without a slash at the end. */
export function openApiResponse(request: Request, origin: string): Response {
	const { etag, plain, packed } = served(origin);
	const headers = {
		etag,
		'cache-control': 'public, max-age=300',
		vary: 'accept-encoding',
		// Tools in a browser read it from other sites; there is nothing in it that is not public.
		'access-control-allow-origin': '*'
	};
	if (isKnown(request.headers.get('if-none-match'), etag))
		return new Response(null, { status: 304, headers });
	const isPacked = /\bgzip\b/.test(request.headers.get('accept-encoding') ?? '');
	return new Response(new Uint8Array(isPacked ? packed : plain), {
		headers: {
			...headers,
			'content-type': 'application/json; charset=utf-8',
			...(isPacked ? { 'content-encoding': 'gzip' } : {})
		}
	});
}
