import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';

interface ServedFile {
	handle: FileHandle;
	bytes: number;
	/** ms since the epoch */
	modifiedAt: number;
	/** Changes with the content; becomes the strong ETag. */
	version: string;
}

type Range = { start: number; end: number };

/**
 * Supports validators and single ranges (RFC 9110, 13 and 14). Closes the file.
 * sirv needs Node's request and a fixed folder. A SvelteKit route has neither, and the administrator may
 * replace the file while the server runs.
 */
export async function fileResponse(
	request: Request,
	file: ServedFile,
	headers: Record<string, string>
): Promise<Response> {
	const etag = `"${file.version}"`;
	const modified = new Date(file.modifiedAt).toUTCString();
	const common = { ...headers, etag, 'last-modified': modified, 'accept-ranges': 'bytes' };
	const empty = async (status: number, more: Record<string, string> = {}) => {
		await file.handle.close();
		return new Response(null, { status, headers: { ...common, ...more } });
	};

	const refused = precondition(request.headers, etag, modified);
	if (refused !== null) return empty(refused);
	const range = wantedRange(request.headers, { etag, modified, bytes: file.bytes });
	if (range === 'beyond') return empty(416, { 'content-range': `bytes */${file.bytes}` });
	const { start, end } = range ?? { start: 0, end: file.bytes - 1 };
	const length = end - start + 1;
	const status = range ? 206 : 200;
	const all = {
		...common,
		'content-length': String(length),
		...(range ? { 'content-range': `bytes ${start}-${end}/${file.bytes}` } : {})
	};
	if (request.method === 'HEAD') return empty(status, all);
	// The stream closes the file, even if the browser disconnects.
	const stream = file.handle.createReadStream({ start, end });
	return new Response(Readable.toWeb(stream) as ReadableStream, { status, headers: all });
}

/** Returns a status without a body, or null to send the body. */
function precondition(headers: Headers, etag: string, modified: string): number | null {
	const match = headers.get('if-match');
	if (match !== null && !names(match, etag)) return 412;
	const none = headers.get('if-none-match');
	if (none !== null) return names(none, etag) ? 304 : null;
	const since = Date.parse(headers.get('if-modified-since') ?? '');
	return since >= Date.parse(modified) ? 304 : null;
}

const names = (list: string, etag: string) =>
	list.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag);

/** Returns null (the whole file) also for an unknown or multiple range, or after a failed If-Range. */
function wantedRange(
	headers: Headers,
	{ etag, modified, bytes }: { etag: string; modified: string; bytes: number }
): Range | 'beyond' | null {
	const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.get('range') ?? '') ?? [];
	if (first === '' && last === '') return null;
	const condition = headers.get('if-range');
	if (condition !== null && condition !== etag && condition !== modified) return null;
	if (first === '') {
		const length = Math.min(Number(last), bytes);
		return length === 0 ? 'beyond' : { start: bytes - length, end: bytes - 1 };
	}
	const start = Number(first);
	const end = last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1);
	if (last !== '' && Number(last) < start) return null;
	return start >= bytes ? 'beyond' : { start, end };
}
