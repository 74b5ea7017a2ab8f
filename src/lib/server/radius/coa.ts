import { createSocket } from 'node:dgram';
import {
	randomId,
	readResponse,
	requestPacket,
	type Answer,
	type RequestAttributes,
	type RequestKind
} from './packet.ts';

/** The result of a Disconnect- or CoA-Request. `silent`: no response, for example because the secret is wrong. */
export type Asked = Answer | { kind: 'silent' };

export interface CoaTarget {
	host: string;
	port: number;
	secret: string;
}

export const DYNAMIC_AUTHORISATION_PORT = 3799;

const ANSWER_MS = 2_000;

/** Sends one request, without retries. */
export function sendRequest(
	{ host, port, secret }: CoaTarget,
	kind: RequestKind,
	attributes: RequestAttributes
): Promise<Asked> {
	const request = requestPacket(kind, randomId(), attributes, secret);
	const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
	return new Promise((resolve) => {
		const end = (asked: Asked) => {
			clearTimeout(limit);
			socket.removeAllListeners('message');
			socket.close();
			resolve(asked);
		};
		const limit = setTimeout(() => end({ kind: 'silent' }), ANSWER_MS);
		// An ICMP error such as "port unreachable" counts as no response.
		socket.once('error', () => end({ kind: 'silent' }));
		socket.on('message', (bytes) => {
			const answer = readResponse(kind, request, bytes, secret);
			// Ignore forged packets: the real response may still arrive.
			if (answer !== null) end(answer);
		});
		socket.connect(port, host, () => {
			socket.send(request, (error) => error && end({ kind: 'silent' }));
		});
	});
}
