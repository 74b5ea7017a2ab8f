/** A TLS proxy in front of a gateway simulator that speaks http. */
import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { createServer } from 'node:tls';
import type { Certificate } from './certificates.ts';

export interface TlsFront {
	/** `https://127.0.0.1:<port>` */
	readonly url: string;
	/** Presents this certificate to new connections and closes the open ones. */
	show(certificate: Certificate): void;
	stop(): Promise<void>;
}

export async function startTlsFront(behind: string, shown: Certificate): Promise<TlsFront> {
	const sockets = new Set<Socket>();
	const keep = (socket: Socket) => {
		sockets.add(socket);
		// One that is refused goes away in the middle of the handshake.
		socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
	};
	const server = createServer(shown, (socket) => {
		const inside = connect(Number(new URL(behind).port), '127.0.0.1');
		keep(inside);
		socket.on('error', () => undefined);
		socket.pipe(inside).pipe(socket);
	});
	server.on('connection', keep);
	server.on('tlsClientError', () => undefined);
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const end = () => sockets.forEach((socket) => socket.destroy());
	return {
		url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
		show(certificate) {
			server.setSecureContext(certificate);
			end();
		},
		async stop() {
			server.close();
			end();
			await once(server, 'close');
		}
	};
}
