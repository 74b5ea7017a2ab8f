/** Packets of dynamic authorisation: fixed vectors, made with Python's hashlib from RFC 5176 and 3579. */
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { encodeRequest, readResponse } from '../../../src/lib/server/access/radius-connections.ts';

const SECRET = 'xyzzy5461';
const request = encodeRequest(
	'disconnect',
	7,
	{ userName: 's12', acctSessionId: '8000000a', eventTimestamp: 1_700_000_000 },
	SECRET
);

it('a Disconnect-Request is this one, byte by byte', () => {
	expect(request.toString('hex')).toBe(
		'2807003bf06cca95d5aea400ff4dbba2c95a7bd35012ee185ec2e7a2e06bdbf4b2c31bd28d6901057331322c0a383030303030306137066553f100'
	);
});

it('a CoA-Request says how long, and which connection', () => {
	const packet = encodeRequest(
		'coa',
		255,
		{ sessionTimeout: 3600, framedIp: '10.0.0.9', eventTimestamp: 1 },
		SECRET
	);
	expect(packet.subarray(0, 2).toString('hex')).toBe('2bff');
	expect(packet.subarray(38).toString('hex')).toBe('08060a000009' + '1b0600000e10' + '370600000001');
});

it('what is too long for an attribute is left out', () => {
	const packet = encodeRequest('coa', 1, { userName: 'x'.repeat(254), eventTimestamp: 1 }, SECRET);
	expect(packet.length).toBe(20 + 18 + 6);
});

/** An answer as RFC 5176 signs it. */
function response(code: number, attributes: string, { id = 7, secret = SECRET } = {}): Buffer {
	const packet = Buffer.concat([
		Buffer.from([code, id, 0, 20 + attributes.length / 2]),
		request.subarray(4, 20),
		Buffer.from(attributes, 'hex')
	]);
	createHash('md5').update(packet).update(secret).digest().copy(packet, 4);
	return packet;
}

const read = (bytes: Buffer) => readResponse('disconnect', request, bytes, SECRET);

it('an answer is read when it belongs to the request and is signed', () => {
	expect(read(response(41, ''))).toEqual({ kind: 'done' });
	expect(read(response(42, '6506000001f7'))).toEqual({ kind: 'gone' });
	expect(read(response(42, ''))).toEqual({ kind: 'refused', errorCause: null });
	// Bytes behind the packet are padding (RFC 2865, 3).
	expect(read(Buffer.concat([response(41, ''), Buffer.alloc(5)]))).toEqual({ kind: 'done' });
});

it('and is none otherwise', () => {
	expect(read(response(41, '', { secret: 'another' }))).toBeNull();
	expect(read(response(41, '', { id: 8 }))).toBeNull();
	expect(read(response(44, ''))).toBeNull();
	expect(read(Buffer.alloc(0))).toBeNull();
	expect(read(response(41, '').subarray(0, 19))).toBeNull();
	// An attribute that is longer than the packet, and one shorter than its own head.
	expect(read(response(42, '65ff0000'))).toBeNull();
	expect(read(response(42, '6501'))).toBeNull();
	// A Message-Authenticator that is wrong.
	expect(read(response(41, `5012${'00'.repeat(16)}`))).toBeNull();
});
