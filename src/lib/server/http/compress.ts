import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';

const compress = promisify(gzip);

/** zlib's usual balance of time and size. */
const LEVEL = constants.Z_DEFAULT_COMPRESSION;
/** Below this the headers cost more than the saving. */
const MIN_BYTES = 1_024;

/**
 * Compresses a page for a slow link; adapter-node compresses only files. The API is left alone: its callers are
 * servers on good links.
 */
export async function compressPage(request: Request, response: Response): Promise<Response> {
	const html = response.headers.get('content-type')?.startsWith('text/html') ?? false;
	return html && !response.headers.has('content-encoding') ? compressed(request, response) : response;
}

/** The same for any text, where a route knows that a page asks for it. */
export async function compressed(request: Request, response: Response): Promise<Response> {
	response.headers.append('vary', 'accept-encoding');
	if (!/\bgzip\b/.test(request.headers.get('accept-encoding') ?? '')) return response;
	const plain = Buffer.from(await response.arrayBuffer());
	const packed = plain.length < MIN_BYTES ? null : await compress(plain, { level: LEVEL });
	const headers = new Headers(response.headers);
	if (packed) headers.set('content-encoding', 'gzip');
	headers.set('content-length', String((packed ?? plain).length));
	return new Response(packed ?? plain, { status: response.status, headers });
}
