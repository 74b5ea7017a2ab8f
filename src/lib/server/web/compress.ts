import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const zip = promisify(gzip);
const brotli = promisify(brotliCompress);

const GZIP_LEVEL = constants.Z_DEFAULT_COMPRESSION;
/** The lowest level that sends a tenth less than gzip: 0.3 ms a page, while the highest takes 15 ms. */
const BROTLI_QUALITY = 5;
/** Below this the headers cost more than the saving. */
const MIN_BYTES = 1_024;

export type Coding = 'br' | 'gzip';

const CODERS: Readonly<Record<Coding, (plain: Buffer) => Promise<Buffer<ArrayBuffer>>>> = {
	br: (plain) =>
		brotli(plain, {
			params: {
				[constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
				[constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
				[constants.BROTLI_PARAM_SIZE_HINT]: plain.length
			}
		}),
	gzip: (plain) => zip(plain, { level: GZIP_LEVEL })
};

/**
 * adapter-node compresses only files. The API is excluded, because its callers are on fast links, and so are pages
 * whose coding is chosen already.
 */
export async function compressPage(request: Request, response: Response): Promise<Response> {
	const html = response.headers.get('content-type')?.startsWith('text/html') ?? false;
	if (!html || response.headers.get('vary')?.includes('accept-encoding')) return response;
	return compressed(request, response);
}

export async function compressed(request: Request, response: Response): Promise<Response> {
	response.headers.append('vary', 'accept-encoding');
	const coding = codingFor(request.headers.get('accept-encoding'));
	if (!coding) return response;
	const plain = Buffer.from(await response.arrayBuffer());
	const packed = plain.length < MIN_BYTES ? null : await pack(plain, coding);
	const headers = new Headers(response.headers);
	if (packed) headers.set('content-encoding', coding);
	headers.set('content-length', String((packed ?? plain).length));
	return new Response(packed ?? plain, { status: response.status, headers });
}

export const pack = (plain: Buffer, coding: Coding): Promise<Buffer<ArrayBuffer>> => CODERS[coding](plain);

/** Returns the smaller coding (RFC 9110, 12.5.3). Browsers send Brotli over https only. */
export function codingFor(accepted: string | null): Coding | null {
	const taken = (accepted ?? '')
		.toLowerCase()
		.split(',')
		.map((one) => one.split(';').map((part) => part.trim()))
		.filter(([, quality = '']) => !/^q=0(\.0*)?$/.test(quality))
		.map(([coding]) => coding);
	if (taken.includes('br')) return 'br';
	return taken.includes('gzip') ? 'gzip' : null;
}
