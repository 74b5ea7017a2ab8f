/** How Airtill calls operators and gateways: which answers it understands, and what it knows of a request without one. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpClient, createHttpClient, textOf } from '#lib/server/platform/http-client.ts';
import { startReceiver, type Receiver } from '../../support/api/receiver.ts';

let receiver: Receiver;
let http: HttpClient;
beforeAll(async () => {
	receiver = await startReceiver();
	http = createHttpClient({ timeoutMs: 2_000 });
});
afterAll(async () => {
	await http.stop();
	await receiver.stop();
});

const get = (path: string) => http.send({ method: 'GET', url: receiver.url + path, headers: {} });
const post = (path: string) =>
	http.send({ method: 'POST', url: receiver.url + path, headers: {}, body: '{"x":1}' });
const OK = 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok';

describe('an answer', () => {
	it.each([
		['100 that nobody asked for', 'HTTP/1.1 100 Continue\r\n\r\n'],
		['103 with links', 'HTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\n\r\n'],
		['100 without a reason', 'HTTP/1.1 100\r\n\r\n'],
		['several', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n']
	])('after an interim one (%s) is the answer', async (_what, interim) => {
		receiver.reply('/interim', { bytes: interim + OK, then: 'drop' });
		for (const send of [get, post]) {
			expect(await send('/interim')).toMatchObject({ kind: 'response', status: 200, text: 'ok' });
		}
	});

	it('that is only interim never comes: the request may have arrived', async () => {
		receiver.reply('/only', { bytes: 'HTTP/1.1 100 Continue\r\n\r\n', then: 'hang' });
		expect(await post('/only')).toMatchObject({ kind: 'failure', cause: 'timeout', sent: true });
	});

	it.each([
		[
			'101, which is no interim answer',
			'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'
		],
		['cut in its head', 'HTTP/1.1 200 OK\r\ncontent-le'],
		['cut in its body', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok'],
		['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n']
	])('that is %s is no answer: the request may have arrived', async (_what, bytes) => {
		receiver.reply('/bad', { bytes, then: 'drop' });
		expect(await post('/bad')).toMatchObject({ kind: 'failure', cause: 'network', sent: true });
	});

	it('beyond a megabyte is left', async () => {
		receiver.reply('/large', { status: 200, body: Buffer.alloc(1024 * 1024 + 1, 'a') });
		expect(await get('/large')).toMatchObject({ kind: 'failure', cause: 'too_large', sent: true });
	});
});

it('a server that is not there, or breaks off before TLS is there, got no byte of the request', async () => {
	const closing = createServer((socket) => socket.destroy());
	closing.listen(0, '127.0.0.1');
	await once(closing, 'listening');
	const { port } = closing.address() as AddressInfo;
	const call = () =>
		http.send({ method: 'POST', url: `https://127.0.0.1:${port}/`, headers: {}, body: '{}' });
	expect(await call()).toMatchObject({ kind: 'failure', cause: 'network', sent: false });
	closing.close();
	await once(closing, 'close');
	expect(await call()).toMatchObject({ kind: 'failure', cause: 'network', sent: false });
});

it.each([
	['UTF-8', Buffer.from('{"a":"é"}')],
	['UTF-16 with a byte order mark', Buffer.from('\ufeff{"a":"é"}', 'utf16le')],
	['big-endian UTF-16 with a byte order mark', Buffer.from('\ufeff{"a":"é"}', 'utf16le').swap16()],
	['gzip', gzipSync('{"a":"é"}')]
])('text is read from %s', (_what, bytes) => {
	expect(textOf(bytes)).toBe('{"a":"é"}');
});

it.each([
	['nothing', Buffer.from(''), ''],
	['one byte', Buffer.from('a'), 'a'],
	['packed bytes that cannot be unpacked', Buffer.from([0x1f, 0x8b, 0x61]), '\u001f\ufffda']
])('text of %s is what is there', (_what, bytes, text) => {
	expect(textOf(bytes)).toBe(text);
});

/** Airtill calls the address that an owner has given only if it is public, whatever its name says at that moment. */
describe('a public address', () => {
	const request = (host: string) => ({
		...{ method: 'GET' as const, headers: {} },
		url: `http://${host}:${new URL(receiver.url).port}/owned`
	});

	it.each([
		['a name of this machine', 'router.example.com'],
		['an address of this machine', '127.0.0.1'],
		['an IPv4 address inside IPv6', '[::ffff:127.0.0.1]'],
		['an address of a private network', '10.0.0.1']
	])('%s is not called', async (_what, host) => {
		const http = createHttpClient({
			timeoutMs: 2_000,
			publicBy: async () => [{ address: '127.0.0.1', family: 4 }]
		});
		expect(await http.send(request(host))).toMatchObject({ kind: 'failure', cause: 'network', sent: false });
		expect(receiver.at('/owned')).toEqual([]);
		await http.stop();
	});

	it('without this rule the receiver would be reached', async () => {
		expect(await http.send(request('127.0.0.1'))).toMatchObject({ kind: 'response' });
	});
});
