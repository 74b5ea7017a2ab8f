/** A stand-in of UniFi's console that knows every device, for tests of what buyers are told meanwhile. */
import { once } from 'node:events';
import http from 'node:http';

interface Console {
	url: string;
	/** Devices that are in, by MAC address. */
	inside: Set<string>;
	/** While false, it answers 503 only. */
	answers: boolean;
	stop(): Promise<void>;
}

export async function startConsole(): Promise<Console> {
	const state = { inside: new Set<string>(), answers: true };
	const server = http.createServer((request, response) => {
		const url = new URL(request.url ?? '/', 'http://console');
		const reply = (status: number, body: unknown) =>
			response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
		if (!state.answers) return reply(503, {});
		if (url.pathname.endsWith('/sites')) {
			return reply(200, { totalCount: 1, data: [{ id: 'site', internalReference: 'default' }] });
		}
		if (url.pathname.endsWith('/clients')) {
			const macAddress = /'([^']+)'/.exec(url.searchParams.get('filter') ?? '')?.[1] ?? '';
			return reply(200, { totalCount: 1, data: [{ id: macAddress, macAddress }] });
		}
		const mac = decodeURIComponent(/\/clients\/([^/]+)\/actions$/.exec(url.pathname)?.[1] ?? '');
		request.setEncoding('utf8').on('data', (body: string) => {
			if (body.includes('"AUTHORIZE_GUEST_ACCESS"')) state.inside.add(mac);
			else state.inside.delete(mac);
		});
		request.on('end', () => reply(200, {}));
		return undefined;
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const address = server.address();
	const port = typeof address === 'object' && address ? address.port : 0;
	return Object.assign(state, {
		url: `http://127.0.0.1:${port}`,
		stop: async () => {
			server.closeAllConnections();
			server.close();
			await once(server, 'close');
		}
	});
}
