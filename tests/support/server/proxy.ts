/** A proxy in front of several processes, with the least that real ones do: it checks /readyz and repeats no request. */
import { once } from 'node:events';
import { Agent, createServer, get, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

interface Proxy {
	/** `http://127.0.0.1:<port>` */
	readonly url: string;
	/** Whether the last check of this process succeeded. */
	sendsTo(url: string): boolean;
	stop(): Promise<void>;
}

const CHECK_MS = 50;

interface Backend {
	url: string;
	agent: Agent;
	isReady: boolean;
}

export async function startProxy(urls: readonly string[]): Promise<Proxy> {
	const backends = urls.map((url): Backend => ({
		url,
		agent: new Agent({ keepAlive: true }),
		isReady: true
	}));
	let turn = 0;

	function forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
		const ready = backends.filter(({ isReady }) => isReady);
		const backend = ready[(turn += 1) % ready.length];
		if (!backend) return void outgoing.writeHead(503).end('no process is ready');
		const { method, headers } = incoming;
		const inside = request(
			backend.url + incoming.url,
			{ method, headers, agent: backend.agent },
			(answer) => {
				// The client may have given up.
				if (outgoing.destroyed) return void answer.destroy();
				// The connection to the process may end; the one to the client stays.
				delete answer.headers.connection;
				outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
				// A response that breaks off breaks off for the client too.
				pipeline(answer, outgoing, () => {});
			}
		);
		inside.once('error', ({ message }) => outgoing.writeHead(502).end(message));
		incoming.pipe(inside);
	}

	const check = (backend: Backend) =>
		get(`${backend.url}/readyz`, { agent: false }, (answer) => {
			backend.isReady = answer.statusCode === 200;
			answer.resume();
		}).once('error', () => (backend.isReady = false));

	const checking = setInterval(() => backends.forEach(check), CHECK_MS);
	const server = createServer(forward).listen(0, '127.0.0.1');
	await once(server, 'listening');
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		sendsTo: (url) => backends.some((backend) => backend.url === url && backend.isReady),
		async stop() {
			clearInterval(checking);
			server.close();
			server.closeAllConnections();
			for (const { agent } of backends) agent.destroy();
			await once(server, 'close');
		}
	};
}
