import { maxHeaderSize, ServerResponse, type Server } from 'node:http';
import type { Config } from '#lib/server/config/config.ts';
import type { ProblemItem } from '../contract/problems.ts';
import { validationFailed, type AppError } from '#lib/server/platform/errors.ts';
import { requestId } from '#lib/server/platform/ids.ts';
import type { ApiAnswer } from './api-call.ts';
import {
	afterAnswers,
	closeWith,
	endConnection,
	failBody,
	isClosing,
	isOver,
	lastAnswer,
	stopTaking
} from './connection.ts';
import { problemAnswer } from './problem.ts';

/**
 * Requests that Node's parser refuses never reach a route: what is not HTTP, an address and headers beyond
 * Node's limit, a request that does not end. Node would answer them 400, 408 or 431 without a body; here they get
 * the 400 that a program can read, because nothing under /v1 answers in another way.
 *
 * The rule of connection.ts holds: answers that are still in work are written first, then the 400, then the
 * connection ends. A request that arrived whole is never answered by the error of what came after it: it may have
 * been a payment.
 */
export function answerBrokenRequests(http: Server, config: Config): void {
	http.on('clientError', (error: NodeJS.ErrnoException, socket) => {
		// Nobody listens any more.
		if (error.code === 'ECONNRESET') socket.destroy(error);
		// The parser tells of its error again with all that comes after it.
		if (isClosing(socket) || !socket.writable) return;
		stopTaking(socket);
		const failure = failureOf(error.code);
		const last = lastAnswer(socket);
		if (!last || last.req.complete) {
			afterAnswers(socket, () => endConnection(socket, wholeAnswer(failure, config)));
			return;
		}
		// The body of a request that is in work, or was answered without it: nothing else may answer that one.
		if (!isOver(last) && !last.headersSent) closeWith(last, socket);
		failBody(last.req, failure);
		afterAnswers(socket, () => endConnection(socket));
	});
	http.on('connect', (request, socket) => {
		// Node has let go of this connection, and nobody else hears its errors.
		socket.on('error', () => socket.destroy()).resume();
		afterAnswers(socket, () => {
			if (!socket.writable) return;
			const response = new ServerResponse(request);
			response.shouldKeepAlive = false;
			response.assignSocket(request.socket);
			response.once('finish', () => endConnection(socket));
			http.emit('request', request, response);
		});
	});
}

/** The answer to a request without a host, or whose host is none. */
export const badHost = (config: Config, id: string): ApiAnswer => refusal(failureOf('HOST'), config, id);

function failureOf(code: string | undefined): AppError {
	return validationFailed([itemOf(code)]);
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

/** Which host was asked is not known here. */
const refusal = (failure: AppError, config: Config, id: string): ApiAnswer =>
	problemAnswer(failure, { origin: config.origin ?? 'http://localhost', requestId: id });

/** The whole answer as it goes over the connection, which ends with it. */
function wholeAnswer(failure: AppError, config: Config): string {
	const id = requestId();
	const { status, headers, body } = refusal(failure, config, id);
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
