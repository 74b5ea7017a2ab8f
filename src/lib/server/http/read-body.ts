import { waitOutside } from './turns.ts';
import { Refused } from '#lib/server/platform/errors.ts';

export const MAX_BODY_BYTES = 16 * 1024;

/** Reads a body of at most `maxBytes`. @throws Refused `body_too_large | invalid_json` */
export const readBody = (request: Request, maxBytes: number): Promise<Uint8Array> =>
	waitOutside(readAll(request, maxBytes));

async function readAll(request: Request, maxBytes: number): Promise<Uint8Array> {
	if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes);
	if (!request.body) return new Uint8Array();
	const chunks: Uint8Array[] = [];
	let length = 0;
	const reader = request.body.getReader();
	for (;;) {
		const { done, value } = await reader.read().catch(unread);
		if (done) break;
		length += value.length;
		if (length > maxBytes) throw tooLarge(maxBytes);
		chunks.push(value);
	}
	return Buffer.concat(chunks);
}

export const tooLarge = (maxBytes: number) =>
	new Refused('body_too_large', `Send at most ${maxBytes} bytes.`);

/** The sender disconnected or sent invalid framing. */
export const brokeOff = () => new Refused('invalid_json', 'The body is incomplete.');

/** adapter-node enforces its BODY_SIZE_LIMIT while the body is read. */
function unread(error: unknown): never {
	const isTooLarge = typeof error === 'object' && error !== null && 'status' in error && error.status === 413;
	throw isTooLarge ? new Refused('body_too_large', 'The body is too large.') : brokeOff();
}
