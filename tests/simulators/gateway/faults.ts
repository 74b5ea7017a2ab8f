import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Faults on the way to the API of a gateway. `down`: the connection breaks before anything happens. `lost`:
 * it happens, and the answer is lost. `held`: nothing happens before `release`, and then it does, whoever still waits.
 * `slow`: the same after half a second. `unauthorised`, `error`: 401 and 500, and nothing happens.
 */
type Fault = 'down' | 'lost' | 'held' | 'slow' | 'unauthorised' | 'error';

export interface Asked {
	method: string;
	path: string;
	query: URLSearchParams;
	headers: IncomingMessage['headers'];
	body: Record<string, unknown>;
}

export interface Said {
	status: number;
	body?: unknown;
	headers?: Record<string, string>;
}

export interface ApiServer {
	/** `http://127.0.0.1:<port>` */
	readonly url: string;
	/** Every request, as `METHOD path`, in the order in which they came. */
	readonly asked: string[];
	/** From now on requests that fit go wrong; by default all do, until `heal`. */
	fail(fault: Fault, when?: { match?: RegExp; times?: number }): void;
	heal(): void;
	/** Lets what is held happen; answers when it has. */
	release(): Promise<void>;
	/** Requests that are held. */
	readonly held: number;
	/** How far the gateway's clock is ahead. */
	clockOffsetMs: number;
	stop(): Promise<void>;
}

const SLOW_MS = 500;

export async function startApi(
	answer: (asked: Asked) => Said,
	shapes: { unauthorised: () => Said; error: () => Said }
): Promise<ApiServer> {
	const asked: string[] = [];
	let faults: { fault: Fault; match: RegExp; times: number }[] = [];
	const held: (() => void)[] = [];
	const released: Promise<unknown>[] = [];

	const server = createServer((request, response) => void handle(request, response).catch(console.error));
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

	async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
		let text = '';
		for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
		const { pathname, searchParams } = new URL(request.url ?? '/', url);
		const line = `${request.method ?? ''} ${decodeURIComponent(pathname)}`;
		const body: unknown = text === '' ? {} : JSON.parse(text);
		asked.push(line);
		const fault = faults.find(({ match, times }) => times > 0 && match.test(line));
		if (fault) fault.times -= 1;
		const act = () =>
			answer({
				method: request.method ?? '',
				path: decodeURIComponent(pathname),
				query: searchParams,
				headers: request.headers,
				body: Object(body) as Record<string, unknown>
			});
		const say = ({ status, body: said, headers = {} }: Said) => {
			if (response.destroyed) return;
			response.writeHead(status, { 'content-type': 'application/json', ...headers });
			response.end(said === undefined ? '' : JSON.stringify(said));
		};
		switch (fault?.fault) {
			case 'down':
				request.socket.destroy();
				return;
			case 'lost':
				act();
				request.socket.destroy();
				return;
			case 'unauthorised':
				say(shapes.unauthorised());
				return;
			case 'error':
				say(shapes.error());
				return;
			case 'slow':
				await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
				break;
			case 'held': {
				const turn = new Promise<void>((resolve) => held.push(resolve));
				const happened = turn.then(() => say(act()));
				released.push(happened);
				await happened;
				return;
			}
			case undefined:
		}
		say(act());
	}

	return {
		url,
		asked,
		clockOffsetMs: 0,
		get held() {
			return held.length;
		},
		fail(fault, { match = /./, times = Infinity } = {}) {
			faults.push({ fault, match, times });
		},
		heal() {
			faults = [];
		},
		async release() {
			for (const go of held.splice(0)) go();
			await Promise.all(released.splice(0));
		},
		async stop() {
			server.close();
			server.closeAllConnections();
			await once(server, 'close');
		}
	};
}
