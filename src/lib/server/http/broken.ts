import { maxHeaderSize, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Config } from '../config.ts';
import type { ProblemItem } from '../contract/problems.ts';
import { validationFailed } from '../errors.ts';
import { requestId } from '../ids.ts';
import { problemAnswer } from './problem.ts';

/**
 * Requests that Node's parser refuses never reach a route: what is not HTTP, an address and headers beyond
 * Node's limit, a request that does not end. Node would answer them 400, 408 or 431 without a body; here they get
 * the 400 that a program can read, because nothing under /v1 answers in another way.
 */
export function answerBrokenRequests(http: Server, config: Config): void {
	const responses = new WeakMap<Duplex, ServerResponse>();
	http.on('request', (request, response) => responses.set(request.socket, response));
	http.on('clientError', (error: NodeJS.ErrnoException, socket) => {
		// Nobody listens any more, or an answer is under way: one may not be written into the other.
		const isAnswered =
			responses.get(socket)?.headersSent === true && !responses.get(socket)?.writableFinished;
		if (error.code === 'ECONNRESET' || !socket.writable || isAnswered) {
			socket.destroy(error);
			return;
		}
		socket.end(refusal(itemOf(error.code), config.origin ?? 'http://localhost'));
	});
}

function itemOf(code: string | undefined): ProblemItem {
	const at = { in: 'header', pointer: '' } as const;
	if (code === 'HPE_HEADER_OVERFLOW') {
		const detail = `Address and headers may have ${maxHeaderSize} bytes together.`;
		return { ...at, code: 'out_of_range', detail };
	}
	if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
		return { ...at, code: 'required', detail: 'The request did not arrive in time.' };
	}
	return { ...at, code: 'invalid_format', detail: 'The request is not valid HTTP.' };
}

/** The whole answer as it goes over the connection, which ends with it. */
function refusal(item: ProblemItem, origin: string): string {
	const id = requestId();
	const { status, headers, body } = problemAnswer(validationFailed([item]), { origin, requestId: id });
	const lines = Object.entries({
		...headers,
		'cache-control': 'no-store',
		'x-content-type-options': 'nosniff',
		'x-request-id': id,
		'content-length': Buffer.byteLength(body),
		connection: 'close'
	}).map(([name, value]) => `${name}: ${value}\r\n`);
	return `HTTP/1.1 ${status} Bad Request\r\n${lines.join('')}\r\n${body}`;
}
