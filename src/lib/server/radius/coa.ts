import { createSocket } from 'node:dgram';
import { randomId, readResponse, requestPacket, type RequestAttributes, type RequestKind } from './packet.ts';

/**
 * Asks an access server to end a connection, or to let it last longer (RFC 5176). `gone`: it does not know it (any more).
 * `refused`: `errorCause` as in RFC 5176, 3.5. `silent`: no answer, a wrong secret among the reasons.
 */
export type Asked =
	{ kind: 'done' } | { kind: 'gone' } | { kind: 'refused'; errorCause: number | null } | { kind: 'silent' };

export interface AccessServer {
	/** Address or host name. */
	host: string;
	port: number;
	secret: string;
}

export const DYNAMIC_AUTHORISATION_PORT = 3799;

/** Session-Context-Not-Found */
const NOT_FOUND = 503;
const ANSWER_MS = 2_000;

/** One request, sent once: who asks decides whether to ask again. */
export function ask(
	{ host, port, secret }: AccessServer,
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
		// Nobody listens there, or there is no way: as good as no answer.
		socket.once('error', () => end({ kind: 'silent' }));
		socket.on('message', (bytes) => {
			const answer = readResponse(kind, request, bytes, secret);
			// What somebody else sends is none, and the right one may still come.
			if (answer === null) return;
			if (answer.kind === 'ack') end({ kind: 'done' });
			else if (answer.errorCause === NOT_FOUND) end({ kind: 'gone' });
			else end({ kind: 'refused', errorCause: answer.errorCause });
		});
		socket.connect(port, host, () => {
			// A failure to connect comes as an error.
			socket.send(request, (error) => error && end({ kind: 'silent' }));
		});
	});
}
