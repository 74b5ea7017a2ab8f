import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { RequestEvent } from '@sveltejs/kit';

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

/** adapter-node compresses only files. The API is excluded, because its callers are on fast links. */
export async function compressPage(request: Request, response: Response): Promise<Response> {
	const html = response.headers.get('content-type')?.startsWith('text/html') ?? false;
	return html && !response.headers.has('content-encoding') ? compressed(request, response) : response;
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

/** Pages that are the same for everybody. Only their language and the address of the installation differ. */
const SAME_FOR_ALL =
	/^(\/[a-z]{2})?\/(help|terms|privacy|owner\/(sign-in|forgot)|developer\/(sign-in|sign-up|forgot))$/;
/** An administrator's own texts show up that late. */
const KEPT_MS = 10_000;
const MAX_KEPT = 200;

type Render = () => Response | Promise<Response>;

/** Keeps pages that are the same for everybody in their compressed form: rendering one takes up to 30 ms. */
export function createPageMemory() {
	const pages = new Map<string, { body: ArrayBuffer; headers: Headers; until: number }>();

	return async function remember(event: RequestEvent, locale: string, render: Render): Promise<Response> {
		const { request, url, locals } = event;
		const coding = codingFor(request.headers.get('accept-encoding'));
		// Whoever is signed in has a cookie, and is led on.
		const isSame = request.method === 'GET' && url.search === '' && !request.headers.has('cookie');
		if (!isSame || coding === null || !SAME_FOR_ALL.test(url.pathname)) return render();
		const key = [coding, locale, locals.origin, url.pathname].join(' ');
		const kept = pages.get(key);
		if (kept && kept.until > performance.now()) return new Response(kept.body, { headers: kept.headers });
		const page = await compressed(request, await render());
		if (page.status !== 200 || page.headers.has('set-cookie')) return page;
		const body = await page.arrayBuffer();
		pages.delete(key);
		pages.set(key, { body, headers: new Headers(page.headers), until: performance.now() + KEPT_MS });
		const [oldest] = pages.keys();
		if (pages.size > MAX_KEPT && oldest !== undefined) pages.delete(oldest);
		return new Response(body, { headers: page.headers });
	};
}
