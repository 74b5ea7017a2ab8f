import { createSocket } from 'node:dgram';
import {
	randomId,
	readResponse,
	encodeRequest,
	type CoaResponse,
	type RequestAttributes,
	type RequestKind
} from './packet.ts';

/** The result of a Disconnect- or CoA-Request. `unresponsive`: no response, for example because the secret is wrong. */
export type CoaResult = CoaResponse | { kind: 'unresponsive' };

export interface CoaTarget {
	host: string;
	port: number;
	secret: string;
}

export const DYNAMIC_AUTHORISATION_PORT = 3799;

const RESPONSE_MS = 2_000;

/** Sends one request, without retries. */
export function sendRequest(
	{ host, port, secret }: CoaTarget,
	kind: RequestKind,
	attributes: RequestAttributes
): Promise<CoaResult> {
	const request = encodeRequest(kind, randomId(), attributes, secret);
	const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
	return new Promise((resolve) => {
		const resolveWith = (result: CoaResult) => {
			clearTimeout(limit);
			socket.removeAllListeners('message');
			socket.close();
			resolve(result);
		};
		const limit = setTimeout(() => resolveWith({ kind: 'unresponsive' }), RESPONSE_MS);
		// An ICMP error such as "port unreachable" counts as no response.
		socket.once('error', () => resolveWith({ kind: 'unresponsive' }));
		socket.on('message', (bytes) => {
			const response = readResponse(kind, request, bytes, secret);
			// Ignore forged packets: the real response may still arrive.
			if (response !== null) resolveWith(response);
		});
		socket.connect(port, host, () => {
			socket.send(request, (error) => error && resolveWith({ kind: 'unresponsive' }));
		});
	});
}
