import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { AppError } from '#lib/server/platform/errors.ts';

/**
 * What is known of a connection beyond one request, and how it ends. The rule: answers to what was asked before are
 * written first and in their order, then what the end itself has to say; nothing that comes later is carried out.
 */

/** How long the other side may read what was written last, and close; after that the connection is taken down. */
const LINGER_MS = 2_000;

const answers = new WeakMap<Duplex, ServerResponse>();
const answersTo = new WeakMap<IncomingMessage, ServerResponse>();
const closing = new WeakSet<Duplex>();
/** Connections on which no request has come. */
const unused = new Set<Socket>();
const failures = new WeakMap<IncomingMessage, AppError>();

/**
 * Notes the answers of a server; before anything is answered. And a client may end its side when it has asked: what it
 * asked is carried out, so it is answered.
 */
export function watchConnections(http: Server): void {
	// Without this Node ends its own side at once. It is no option of createServer, and its types do not know it.
	Object.assign(http, { httpAllowHalfOpen: true });
	http.on('connection', (socket) => {
		unused.add(socket);
		socket.once('close', () => unused.delete(socket));
	});
	http.prependListener('request', (request, response) => {
		unused.delete(request.socket);
		answers.set(request.socket, response);
		answersTo.set(request, response);
	});
}

/**
 * Takes down the connections on which nothing came at all: browsers open some in advance. To Node they are not idle, and
 * an end of the process would wait for them.
 */
export function endUnused(): void {
	// What has come in is read first.
	setImmediate(() => {
		for (const socket of unused) if (socket.bytesRead === 0) socket.destroy();
	});
}

/** The answer to the request that came last; with it all before it are over, because they are written in order. */
export const lastAnswer = (socket: Duplex): ServerResponse | undefined => answers.get(socket);

export const isOver = (response: ServerResponse): boolean => response.writableFinished || response.destroyed;

/**
 * Aborts when nobody waits for an answer any more: its connection is closed, or the other side has ended its own. That
 * one may still read (it is answered), but nobody can tell.
 */
export function deserted(request: IncomingMessage, response: ServerResponse): AbortSignal {
	const controller = new AbortController();
	const abort = () => controller.abort();
	const { socket } = request;
	if (response.destroyed || socket.readableEnded) abort();
	socket.once('end', abort);
	response.once('close', () => {
		socket.off('end', abort);
		abort();
	});
	return controller.signal;
}

/** The same for a request that came on a watched server; null for others. */
export function desertedFor(request: IncomingMessage): AbortSignal | null {
	const response = answersTo.get(request);
	return response ? deserted(request, response) : null;
}

/** Does something when all that was asked on a connection is answered. */
export function afterAnswers(socket: Duplex, then: () => void): void {
	const last = lastAnswer(socket);
	if (last && !isOver(last)) last.once('close', then);
	else then();
}

/** From here on nothing that comes in is carried out: its answer could not be written. */
export const stopTaking = (socket: Duplex): unknown => closing.add(socket);

export const isClosing = (socket: Duplex): boolean => closing.has(socket);

/** Makes the answer to the last request of a connection its end. */
export function closeWith(response: ServerResponse, socket: Duplex): void {
	response.shouldKeepAlive = false;
	stopTaking(socket);
}

/** Ends a connection for both sides, also when the other one keeps its own open. */
export function endConnection(socket: Duplex, text = ''): void {
	stopTaking(socket);
	if (!socket.writable) return;
	socket.end(text);
	const limit = setTimeout(() => socket.destroy(), LINGER_MS);
	socket.once('close', () => clearTimeout(limit));
}

/** Tells whoever reads the body of a request that the rest of it does not come; its answer will say why. */
export function failBody(request: IncomingMessage, failure: AppError): void {
	failures.set(request, failure);
	if (request.listenerCount('error') > 0) request.emit('error', failure);
}

export const bodyFailure = (request: IncomingMessage): AppError | undefined => failures.get(request);
