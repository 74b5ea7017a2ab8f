import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SimulatorAnswer, SimulatorRequest } from './protocol.ts';

/** The answer that closes the connection instead. */
export const DROP: SimulatorAnswer = { status: 0, body: null };

export async function serve(
	answerTo: (request: SimulatorRequest) => Promise<SimulatorAnswer>,
	{ port = 0, host = '127.0.0.1' }: { port?: number; host?: string }
): Promise<{ url: string; stop(): Promise<void> }> {
	const server = createServer((incoming, outgoing) => {
		void receive(incoming)
			.then(answerTo)
			.then((answer) => write(incoming, outgoing, answer))
			.catch((error: unknown) => {
				console.error(error);
				incoming.socket.destroy();
			});
	});
	server.listen(port, host);
	await once(server, 'listening');
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		async stop() {
			server.close();
			server.closeAllConnections();
			await once(server, 'close');
		}
	};
}

async function receive(incoming: IncomingMessage): Promise<SimulatorRequest> {
	const chunks: Buffer[] = [];
	for await (const chunk of incoming) chunks.push(chunk as Buffer);
	const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://simulator');
	return {
		method: incoming.method ?? 'GET',
		path: pathname,
		query: searchParams,
		headers: incoming.headers,
		body: Buffer.concat(chunks).toString('utf8')
	};
}

function write(incoming: IncomingMessage, outgoing: ServerResponse, answer: SimulatorAnswer): void {
	if (answer.status === 0) {
		incoming.socket.destroy();
		return;
	}
	for (const status of answer.interim ?? []) {
		if (status === 100) outgoing.writeContinue();
		else if (status === 102) outgoing.writeProcessing();
		else outgoing.writeEarlyHints({ link: '</style.css>; rel=preload' });
	}
	const isText = typeof answer.body === 'string';
	const body = answer.body === null ? '' : isText ? String(answer.body) : JSON.stringify(answer.body);
	const type = answer.body === null ? {} : { 'content-type': isText ? 'text/html' : 'application/json' };
	outgoing.writeHead(answer.status, { ...type, ...answer.headers });
	outgoing.end(body);
}
