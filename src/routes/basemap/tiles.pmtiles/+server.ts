import type { RequestHandler } from './$types';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';

const YEAR_SECONDS = 365 * 24 * 60 * 60;

/**
 * The installation's PMTiles file: whole, by single ranges, or by HEAD. Browsers may cache `?v=VERSION` (from
 * `/basemap`). 404 if it has none.
 */
export const GET: RequestHandler = async ({ request, url, locals }) => {
	const file = await locals.app.basemap.openArchive();
	if (!file) return new Response('There is no such file.\n', { status: 404 });
	const isNamed = url.searchParams.get('v') === file.version;
	return fileResponse(request, file, {
		'content-type': 'application/vnd.pmtiles',
		'cache-control': isNamed ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache'
	});
};

export const HEAD: RequestHandler = GET;

interface ServedFile {
	handle: FileHandle;
	bytes: number;
	/** Changes with the content; becomes the strong ETag. */
	version: string;
}

/**
 * Supports ETags and single ranges (RFC 9110, 13 and 14). Closes the file.
 * sirv needs Node's request and a fixed folder. A SvelteKit route has neither, and the administrator may
 * replace the file while the server runs.
 */
async function fileResponse(
	request: Request,
	{ handle, bytes, version }: ServedFile,
	headers: Record<string, string>
): Promise<Response> {
	const etag = `"${version}"`;
	const common = { ...headers, etag, 'accept-ranges': 'bytes' };
	const empty = async (status: number, more: Record<string, string> = {}) => {
		await handle.close();
		return new Response(null, { status, headers: { ...common, ...more } });
	};

	if ((request.headers.get('if-none-match') ?? '').includes(etag)) return empty(304);
	const range = wantedRange(request.headers, etag, bytes);
	const { start, end } = range ?? { start: 0, end: bytes - 1 };
	if (range && start > end) return empty(416, { 'content-range': `bytes */${bytes}` });
	const status = range ? 206 : 200;
	const all = {
		...common,
		'content-length': String(end - start + 1),
		...(range ? { 'content-range': `bytes ${start}-${end}/${bytes}` } : {})
	};
	if (request.method === 'HEAD') return empty(status, all);
	// The stream closes the file, even if the browser disconnects.
	const stream = handle.createReadStream({ start, end });
	return new Response(Readable.toWeb(stream) as ReadableStream, { status, headers: all });
}

/** Returns null (the whole file) also for an unknown or multiple range, or after a failed If-Range. */
function wantedRange(headers: Headers, etag: string, bytes: number): { start: number; end: number } | null {
	const [, first, last] = /^bytes=(\d{1,15})-(\d{0,15})$/.exec(headers.get('range') ?? '') ?? [];
	if (first === undefined || (headers.get('if-range') ?? etag) !== etag) return null;
	const start = Number(first);
	if (last && Number(last) < start) return null;
	return { start, end: Math.min(Number(last || bytes), bytes - 1) };
}
