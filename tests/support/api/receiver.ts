/** A webhook receiver that stores raw requests and sends the response set for each path. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Received {
	method: string;
	path: string;
	headers: IncomingHttpHeaders;
	/** The bytes as text. */
	raw: string;
	/** performance.now() */
	at: number;
	/** Connections that are open to this path now, this one included. */
	atOnce: number;
}

/** `hang` never answers; `drop` closes the connection; `after` is awaited first; `bytes` are the whole response as it is. */
type Reply =
	| 'hang'
	| 'drop'
	| { bytes: string | Buffer; then: 'hang' | 'drop' }
	| {
			status: number;
			headers?: Record<string, string>;
			body?: string | Buffer;
			afterMs?: number;
			after?: Promise<unknown>;
	  };

export interface Receiver {
	/** `http://127.0.0.1:<port>` */
	readonly url: string;
	/** Requests to a path, oldest first. */
	at(path: string): Received[];
	/** How a path answers from now on: always the same, or by what came (`index` counts from 0). The default is 200. */
	reply(path: string, reply: Reply | ((received: Received, index: number) => Reply)): void;
	stop(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
	const all = new Map<string, Received[]>();
	const replies = new Map<string, (received: Received, index: number) => Reply>();
	const open = new Map<string, number>();

	const server = createServer((request, response) => {
		const path = request.url ?? '';
		open.set(path, (open.get(path) ?? 0) + 1);
		response.on('close', () => open.set(path, (open.get(path) ?? 1) - 1));
		const chunks: Buffer[] = [];
		request.on('data', (chunk: Buffer) => chunks.push(chunk));
		request.on('end', () => {
			const received = {
				method: request.method ?? '',
				path,
				headers: request.headers,
				raw: Buffer.concat(chunks).toString('utf8'),
				at: performance.now(),
				atOnce: open.get(path) ?? 0
			};
			const before = all.get(path) ?? [];
			all.set(path, [...before, received]);
			const reply = replies.get(path)?.(received, before.length) ?? { status: 200 };
			void answer(response, reply);
		});
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const { port } = server.address() as AddressInfo;

	return {
		url: `http://127.0.0.1:${port}`,
		at: (path) => all.get(path) ?? [],
		reply(path, reply) {
			replies.set(path, typeof reply === 'function' ? reply : () => reply);
		},
		async stop() {
			server.closeAllConnections();
			server.close();
			await once(server, 'close');
		}
	};
}

async function answer(response: ServerResponse, reply: Reply): Promise<void> {
	if (reply === 'hang') return;
	if (reply === 'drop') return void response.destroy();
	if ('bytes' in reply) {
		response.socket?.write(reply.bytes);
		if (reply.then === 'drop') response.socket?.end();
		return;
	}
	await reply.after;
	if (reply.afterMs !== undefined) await sleep(reply.afterMs);
	response.writeHead(reply.status, reply.headers);
	response.end(reply.body);
}
