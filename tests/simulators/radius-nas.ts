/**
 * An access server as far as dynamic authorisation (RFC 5176) goes: it takes Disconnect- and CoA-Requests on loopback,
 * holds both signatures of each against its secret, and answers as it is told. Written from the RFC, without the
 * application's own packets.
 */
import { createHash, createHmac } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

export interface Asked {
	kind: 'disconnect' | 'coa';
	/** User-Name, Acct-Session-Id, ... by their numbers in the RFCs; texts as they are, numbers as numbers. */
	attributes: Record<number, string | number>;
	/** Vendor-Specific attributes with 32 bits, by `vendor.type`. */
	vendor: Record<string, number>;
	/** Both signatures are right. */
	isSigned: boolean;
	/** Date.now() when it came. */
	at: number;
}

/**
 * `ack`; `silent`; an Error-Cause to refuse with; `no-vendor`: refuses vendors' attributes (401, Unsupported-Attribute);
 * `unknown`: refuses without an Error-Cause, as CoovaChilli does; `forged`: an answer of somebody who does not know the secret.
 */
type Manner = 'ack' | 'silent' | 'no-vendor' | 'unknown' | 'forged' | number;

export interface StandInNas {
	readonly port: number;
	readonly asked: readonly Asked[];
	/** How it answers from now on. */
	manner: Manner;
	stop(): Promise<void>;
}

const NUMBERS = [27, 55, 85];

export async function startNas(secret: string, host = '127.0.0.1'): Promise<StandInNas> {
	const asked: Asked[] = [];
	const socket = createSocket('udp4');
	const nas = {
		port: 0,
		asked,
		manner: 'ack' as Manner,
		async stop() {
			const closed = once(socket, 'close');
			socket.close();
			await closed;
		}
	};
	socket.on('message', (packet, from) => {
		const kind = packet[0] === 40 ? 'disconnect' : packet[0] === 43 ? 'coa' : null;
		if (kind === null || packet.length !== packet.readUInt16BE(2)) return;
		const { attributes, vendor, isSigned } = read(packet, secret);
		// A wrong secret: silence (RFC 5176, 3).
		asked.push({ kind, attributes, vendor, isSigned, at: Date.now() });
		if (!isSigned) return;
		const takes = Object.keys(vendor).length === 0 ? 'ack' : 401;
		const manner = nas.manner === 'no-vendor' ? takes : nas.manner;
		if (manner === 'silent') return;
		const code = (packet[0] ?? 0) + (typeof manner === 'number' || manner === 'unknown' ? 2 : 1);
		const key = manner === 'forged' ? `${secret}?` : secret;
		socket.send(
			answer(packet, code, typeof manner === 'number' ? manner : null, key),
			from.port,
			from.address
		);
	});
	socket.bind(0, host);
	await once(socket, 'listening');
	nas.port = socket.address().port;
	return nas;
}

function read(packet: Buffer, secret: string): Pick<Asked, 'attributes' | 'vendor' | 'isSigned'> {
	const attributes: Record<number, string | number> = {};
	const vendor: Record<string, number> = {};
	const blank = Buffer.from(packet);
	let given: Buffer | null = null;
	for (let at = 20; at < packet.length; at += packet[at + 1] ?? 255) {
		const type = packet[at] ?? 0;
		const value = packet.subarray(at + 2, at + (packet[at + 1] ?? 0));
		if (type === 80) {
			given = Buffer.from(value);
			blank.fill(0, at + 2, at + 18);
		} else if (type === 26) vendor[`${value.readUInt32BE(0)}.${value[4]}`] = value.readUInt32BE(6);
		else if (type === 8) attributes[type] = [...value].join('.');
		else attributes[type] = NUMBERS.includes(type) ? value.readUInt32BE(0) : value.toString('utf8');
	}
	const unsigned = Buffer.from(packet);
	unsigned.fill(0, 4, 20);
	const authenticator = createHash('md5').update(unsigned).update(secret).digest();
	blank.fill(0, 4, 20);
	const message = createHmac('md5', secret).update(blank).digest();
	return {
		attributes,
		vendor,
		isSigned: authenticator.equals(packet.subarray(4, 20)) && given !== null && message.equals(given)
	};
}

function answer(request: Buffer, code: number, errorCause: number | null, secret: string): Buffer {
	const cause = Buffer.alloc(errorCause === null ? 0 : 6);
	if (errorCause !== null) {
		cause.writeUInt8(101, 0);
		cause.writeUInt8(6, 1);
		cause.writeUInt32BE(errorCause, 2);
	}
	const packet = Buffer.concat([request.subarray(0, 20), cause]);
	packet.writeUInt8(code, 0);
	packet.writeUInt16BE(packet.length, 2);
	createHash('md5').update(packet).update(secret).digest().copy(packet, 4);
	return packet;
}
