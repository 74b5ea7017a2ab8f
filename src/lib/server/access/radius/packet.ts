import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * RADIUS packets of RFC 5176, with Message-Authenticator (RFC 3579) and Event-Timestamp. The npm package
 * `radius` 1.1.4 computes the Message-Authenticator of these codes wrongly.
 */

const CODES = {
	disconnect: { request: 40, ack: 41, nak: 42 },
	coa: { request: 43, ack: 44, nak: 45 }
} as const;
export type RequestKind = keyof typeof CODES;

export interface RequestAttributes {
	userName?: string | undefined;
	/** Dotted IPv4 address. */
	framedIp?: string | undefined;
	sessionTimeout?: number | undefined;
	/** Seconds */
	interimInterval?: number | undefined;
	callingStationId?: string | undefined;
	nasIdentifier?: string | undefined;
	acctSessionId?: string | undefined;
	/** Seconds since the epoch by the gateway's clock. */
	eventTimestamp: number;
	/** Attributes of vendors, with 32 bits. */
	vendor?: readonly { vendorId: number; type: number; value: number }[] | undefined;
}

const HEADER_BYTES = 20;
const AUTHENTICATOR_AT = 4;
const DIGEST_BYTES = 16;
const MAX_VALUE_BYTES = 253;
const MAX_PACKET_BYTES = 4096;

function encodeUint32(value: number): Buffer {
	const bytes = Buffer.alloc(4);
	bytes.writeUInt32BE(value >>> 0);
	return bytes;
}

/** Types of the attributes that we send, in order (RFC 2865, 2866 and 2869). */
const SENT = {
	userName: 1,
	framedIp: 8,
	sessionTimeout: 27,
	callingStationId: 31,
	nasIdentifier: 32,
	acctSessionId: 44,
	eventTimestamp: 55,
	interimInterval: 85
} as const satisfies Record<Exclude<keyof RequestAttributes, 'vendor'>, number>;

function encodeValue(name: keyof typeof SENT, value: string | number): Buffer {
	if (typeof value === 'number') return encodeUint32(value);
	return Buffer.from(name === 'framedIp' ? value.split('.').map(Number) : value);
}

const VENDOR_SPECIFIC = 26;
const MESSAGE_AUTHENTICATOR = 80;
const ERROR_CAUSE = 101;

/** @param id 0 to 255 */
export function encodeRequest(
	kind: RequestKind,
	id: number,
	attributes: RequestAttributes,
	secret: string
): Buffer {
	const parts: Buffer[] = [encodeAttribute(MESSAGE_AUTHENTICATOR, Buffer.alloc(DIGEST_BYTES))];
	for (const name of Object.keys(SENT) as (keyof typeof SENT)[]) {
		const value = attributes[name];
		if (value === undefined) continue;
		const bytes = encodeValue(name, value);
		if (bytes.length > 0 && bytes.length <= MAX_VALUE_BYTES) parts.push(encodeAttribute(SENT[name], bytes));
	}
	for (const { vendorId, type, value } of attributes.vendor ?? []) {
		const own = encodeAttribute(type, encodeUint32(value));
		parts.push(encodeAttribute(VENDOR_SPECIFIC, Buffer.concat([encodeUint32(vendorId), own])));
	}
	const packet = Buffer.concat([Buffer.alloc(HEADER_BYTES), ...parts]);
	packet.writeUInt8(CODES[kind].request, 0);
	packet.writeUInt8(id, 1);
	packet.writeUInt16BE(packet.length, 2);
	// Computed over the packet with both signatures zero (RFC 5176, 3.4). First attribute, against BlastRADIUS.
	createHmac('md5', secret)
		.update(packet)
		.digest()
		.copy(packet, HEADER_BYTES + 2);
	createHash('md5').update(packet).update(secret).digest().copy(packet, AUTHENTICATOR_AT);
	return packet;
}

const encodeAttribute = (type: number, value: Buffer) =>
	Buffer.concat([Buffer.from([type, value.length + 2]), value]);

/** `gone`: the gateway does not know the connection. `refused`: `errorCause` of RFC 5176, section 3.5. */
export type CoaResponse =
	{ kind: 'done' } | { kind: 'gone' } | { kind: 'refused'; errorCause: number | null };

/** Session-Context-Not-Found */
const NOT_FOUND = 503;

/** Returns null if the response is invalid or its secret is wrong. */
export function readResponse(
	kind: RequestKind,
	request: Buffer,
	response: Buffer,
	secret: string
): CoaResponse | null {
	const length = response.length < HEADER_BYTES ? 0 : response.readUInt16BE(2);
	if (length < HEADER_BYTES || length > response.length || length > MAX_PACKET_BYTES) return null;
	const packet = Buffer.from(response.subarray(0, length));
	if (packet[1] !== request[1]) return null;
	const { ack, nak } = CODES[kind];
	if (packet[0] !== ack && packet[0] !== nak) return null;
	const given = Buffer.from(packet.subarray(AUTHENTICATOR_AT, HEADER_BYTES));
	request.copy(packet, AUTHENTICATOR_AT, AUTHENTICATOR_AT, HEADER_BYTES);
	const expected = createHash('md5').update(packet).update(secret).digest();
	if (!timingSafeEqual(given, expected)) return null;
	const found = parseAttributes(packet);
	if (found === null || !isSigned(packet, found, secret)) return null;
	if (packet[0] === ack) return { kind: 'done' };
	const cause = found.find(({ type }) => type === ERROR_CAUSE)?.value;
	const errorCause = cause?.length === 4 ? cause.readUInt32BE(0) : null;
	return errorCause === NOT_FOUND ? { kind: 'gone' } : { kind: 'refused', errorCause };
}

/** Message-Authenticator is optional in responses, but must be valid if present. */
function isSigned(packet: Buffer, attributes: readonly Attribute[], secret: string): boolean {
	const own = attributes.find(({ type }) => type === MESSAGE_AUTHENTICATOR);
	if (!own) return true;
	if (own.value.length !== DIGEST_BYTES) return false;
	const blank = Buffer.from(packet);
	blank.fill(0, own.at, own.at + DIGEST_BYTES);
	return timingSafeEqual(createHmac('md5', secret).update(blank).digest(), own.value);
}

interface Attribute {
	type: number;
	value: Buffer;
	/** Offset of the value in the packet. */
	at: number;
}

function parseAttributes(packet: Buffer): Attribute[] | null {
	const found: Attribute[] = [];
	for (let at = HEADER_BYTES; at < packet.length;) {
		const type = packet[at];
		const length = packet[at + 1];
		if (type === undefined || length === undefined || length < 2 || at + length > packet.length) return null;
		found.push({ type, value: Buffer.from(packet.subarray(at + 2, at + length)), at: at + 2 });
		at += length;
	}
	return found;
}

export const randomId = (): number => randomBytes(1).readUInt8();
