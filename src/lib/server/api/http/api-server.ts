import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { App } from '#lib/server/app.ts';
import { requestId } from '#lib/server/platform/ids.ts';
import { addressOf, headerOf, hostOf, type AdapterSettings } from './adapter-settings.ts';
import { apiAddress } from './api-address.ts';
import type { ApiAnswer, ApiRequest } from './api-call.ts';
import { badHost } from './broken.ts';
import { bodyFailure, closeWith, deserted, isClosing, lastAnswer } from './connection.ts';
import { isApiPath, originOf, SECURITY_HEADERS } from '#lib/server/web/security-headers.ts';
import { brokeOff, tooLarge } from './parse.ts';
import { answerApi } from '../routes/api.ts';

/**
 * The API's own door: calls of /v1 are answered on their connection and never reach SvelteKit, whose way there and back
 * costs more than most answers. What they get is the same through either door (api-event.ts).
 */

/**
 * Takes what is under /v1 out of a server's requests, and refuses what names no host: pages would read one that is none
 * (`evil.test/x?y`) as a part of their own address.
 * @param pages answers all others; it listens on the server now
 */
export function serveApi(http: Server, pages: RequestListener, app: App, settings: AdapterSettings): void {
	http.off('request', pages);
	http.on('request', (request, response) => {
		if (isClosing(request.socket)) return;
		const url = apiAddress(request);
		if (request.httpVersion === '1.0') request.headers.host ??= 'localhost';
		if (!isHost(request.headers.host)) {
			// Through the answer itself, which Node writes in its turn.
			closeWith(response, request.socket);
			const id = requestId();
			send(response, id, badHost(app.config, id));
			return;
		}
		if (url === null || !isApiPath(url.pathname)) {
			pages.call(http, request, response);
			return;
		}
		void reply(new Call(request, response, url, app, settings), response, http);
	});
}

async function reply(call: Call, response: ServerResponse, http: Server): Promise<void> {
	try {
		const answer = await answerApi(call);
		// No new connections are taken: this one ends, unless more was asked on it already.
		const { socket } = response;
		if (!http.listening && socket && lastAnswer(socket) === response) closeWith(response, socket);
		send(response, call.requestId, answer);
	} catch (error) {
		call.app.log.error({ err: error, request: call.requestId }, 'request failed');
		response.destroy();
	}
}

/** `host[:port]` (RFC 9110, 7.2), and nothing else of an address. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(?::\d*)?$/i;

/** The last host that was found to be one: most requests name the same. */
let known = '';

function isHost(host = ''): boolean {
	if (host === known && host !== '') return true;
	if (!HOST.test(host) || !URL.canParse(`http://${host}`)) return false;
	known = host;
	return true;
}

const COMMON_HEADERS = Object.entries({ ...SECURITY_HEADERS, 'cache-control': 'no-store' }).flat();

/** Headers and body in one piece; nothing where nobody is there any more. */
function send(response: ServerResponse, id: string, { status, headers, body }: ApiAnswer): void {
	if (response.destroyed) return;
	const length = Buffer.byteLength(body);
	const lines = COMMON_HEADERS.concat('x-request-id', id, 'content-length', String(length));
	for (const name in headers) lines.push(name, headers[name] ?? '');
	// Of ASCII alone both are the same bytes, and Node writes these much faster.
	response.writeHead(status, lines).end(body, length === body.length ? 'latin1' : 'utf8');
}

class Call implements ApiRequest {
	readonly app: App;
	readonly requestId = requestId();
	readonly method: string;
	readonly pathname: string;
	readonly search: URLSearchParams;
	readonly #request: IncomingMessage;
	readonly #response: ServerResponse;
	readonly #settings: AdapterSettings;

	constructor(
		request: IncomingMessage,
		response: ServerResponse,
		url: { pathname: string; searchParams: URLSearchParams },
		app: App,
		settings: AdapterSettings
	) {
		this.app = app;
		this.method = request.method ?? 'GET';
		this.pathname = url.pathname;
		this.search = url.searchParams;
		this.#request = request;
		this.#response = response;
		this.#settings = settings;
	}

	get host(): string {
		return this.#request.headers.host ?? '';
	}

	get origin(): string {
		const { headers } = this.#request;
		return (
			this.app.config.origin ??
			originOf(headerOf(headers, 'x-forwarded-proto'), hostOf(headers, this.#settings))
		);
	}

	get signal(): AbortSignal {
		return deserted(this.#request, this.#response);
	}

	header(name: string): string | null {
		return headerOf(this.#request.headers, name);
	}

	getClientAddress(): string {
		return addressOf(this.#request, this.#settings);
	}

	async readBody(maxBytes: number): Promise<Uint8Array> {
		const request = this.#request;
		const limit = Math.min(maxBytes, this.#settings.bodySizeLimit);
		if (Number(this.header('content-length') ?? 0) > limit) throw tooLarge(limit);
		if (request.destroyed) throw brokeOff();
		const failed = () => bodyFailure(request) ?? brokeOff();
		if (bodyFailure(request)) throw failed();
		const chunks: Buffer[] = [];
		let length = 0;
		return new Promise((resolve, reject) => {
			request.on('data', (chunk: Buffer) => {
				length += chunk.length;
				if (length > limit) reject(tooLarge(limit));
				else chunks.push(chunk);
			});
			request.once('end', () => resolve(Buffer.concat(chunks)));
			request.once('error', () => reject(failed()));
			request.once('close', () => reject(failed()));
		});
	}
}
