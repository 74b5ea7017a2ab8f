/** The way out: what is checked at connect, and how much of a receiver is borne with. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { isPublicAddress } from '#lib/domain/address.ts';
import type { Address } from '#lib/server/platform/http-client.ts';
import {
	type Outcome,
	createWebhookTransport,
	postWebhook
} from '#lib/server/developer/webhook-transport.ts';
import { startReceiver, type Receiver } from '../../support/api/receiver.ts';

let receiver: Receiver;
beforeAll(async () => {
	receiver = await startReceiver();
});
afterAll(() => receiver?.stop());

const port = () => Number(new URL(receiver.url).port);
const four = (address: string): Address => ({ address, family: 4 });
const six = (address: string): Address => ({ address, family: 6 });
const outgoing = (url: string) => ({ url, headers: { 'content-type': 'application/json' }, body: '{"x":1}' });
const never = () => new AbortController().signal;

describe('a name', () => {
	let asked: number;
	let path: string;
	beforeEach(() => {
		asked = 0;
		path = `/guard-${Math.random()}`;
	});

	/** Sends to a name whose answers are these, one after the other; insecure, so that the receiver could be reached. */
	function transportFor(answers: Address[][], isAllowed: (address: string) => boolean) {
		return createWebhookTransport({
			allowInsecure: true,
			ownHosts: [],
			isAllowed,
			resolve: async () => answers[Math.min(asked++, answers.length - 1)] ?? []
		});
	}
	const url = () => `http://app.example.com:${port()}${path}`;

	it('is asked at connect, and leads where it says', async () => {
		const transport = transportFor([[four('127.0.0.1')]], () => true);
		expect(await postWebhook(transport, outgoing(url()), never())).toMatchObject({ statusCode: 200 });
		expect([asked, receiver.at(path).length]).toEqual([1, 1]);
		expect(receiver.at(path)[0]?.headers.host).toBe(`app.example.com:${port()}`);
	});

	it.each([
		['our own machine', [four('127.0.0.1')]],
		['a private network', [four('10.0.0.7')]],
		['a cloud’s metadata', [four('169.254.169.254')]],
		['itself in IPv6', [six('::1')]],
		['IPv4 inside IPv6', [six('::ffff:127.0.0.1')]],
		['a public address and ours', [four('93.184.215.14'), four('127.0.0.1')]],
		['ours and a public address', [four('127.0.0.1'), four('93.184.215.14')]],
		['a public address and one of IPv6 inside', [four('93.184.215.14'), six('::1')]]
	])('that leads to %s is not called', async (_what, answer) => {
		const transport = transportFor([answer], isPublicAddress);
		expect(await postWebhook(transport, outgoing(url()), never())).toEqual({
			failure: 'address_not_allowed'
		});
		expect([asked, receiver.at(path).length]).toEqual([1, 0]);
	});

	it('that was good before and leads to us now is not called: every attempt asks anew', async () => {
		// The first answer stands for a public address: it is one that the guard lets pass.
		const stand = '127.0.0.2';
		const transport = transportFor([[four(stand)], [four('127.0.0.1')]], (address) => address === stand);
		await postWebhook(transport, outgoing(url()), never());
		const before = receiver.at(path).length;
		expect(await postWebhook(transport, outgoing(url()), never())).toEqual({
			failure: 'address_not_allowed'
		});
		expect([asked, receiver.at(path).length]).toEqual([2, before]);
	});

	it('is asked once for an attempt: what was checked is what is called', async () => {
		const transport = transportFor([[four('127.0.0.1')], [four('127.0.0.9')]], (a) => a === '127.0.0.1');
		expect(await postWebhook(transport, outgoing(url()), never())).toMatchObject({ statusCode: 200 });
		expect(asked).toBe(1);
	});

	it('without an address, or that cannot be resolved, is a failure', async () => {
		const empty = transportFor([[]], () => true);
		expect(await postWebhook(empty, outgoing(url()), never())).toEqual({ failure: 'name_not_found' });
		const unknown = createWebhookTransport({
			allowInsecure: true,
			ownHosts: [],
			resolve: () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))
		});
		expect(await postWebhook(unknown, outgoing(url()), never())).toEqual({ failure: 'name_not_found' });
	});
});

it('an address in the URL is refused before each send: no name is asked for it', async () => {
	let asked = 0;
	const transport = createWebhookTransport({
		allowInsecure: false,
		ownHosts: ['airtill.example'],
		resolve: async () => ((asked += 1), [four('93.184.215.14')])
	});
	for (const url of [
		`https://127.0.0.1:${port()}/literal`,
		`https://2130706433:${port()}/literal`,
		`https://[::1]:${port()}/literal`,
		`http://app.example.com:${port()}/literal`,
		'https://airtill.example/literal'
	]) {
		expect(await postWebhook(transport, outgoing(url), never()), url).toEqual({
			failure: 'address_not_allowed'
		});
	}
	expect([asked, receiver.at('/literal').length]).toEqual([0, 0]);
});

it('a program on this machine is reached by its loopback names only where that is allowed', async () => {
	const rules = { allowInsecure: false, ownHosts: ['localhost:3000'] };
	for (const host of ['127.0.0.1', 'localhost']) {
		const to = outgoing(`http://${host}:${port()}/here-${host}`);
		const open = createWebhookTransport({ ...rules, allowThisMachine: true });
		expect(await postWebhook(open, to, never()), host).toMatchObject({ statusCode: 200 });
		expect(await postWebhook(createWebhookTransport(rules), to, never()), host).toEqual({
			failure: 'address_not_allowed'
		});
		expect(receiver.at(`/here-${host}`)).toHaveLength(1);
	}
});

describe('a receiver', () => {
	const send = (path: string, signal = never()): Promise<Outcome> =>
		postWebhook(
			createWebhookTransport({ allowInsecure: true, ownHosts: [] }),
			outgoing(receiver.url + path),
			signal
		);

	it('is read for a kilobyte, and heard for 64 of them', async () => {
		receiver.reply('/long', { status: 200, body: 'a'.repeat(2_000) });
		expect(await send('/long')).toMatchObject({ statusCode: 200, response: 'a'.repeat(1_024) });
		receiver.reply('/huge', { status: 200, body: Buffer.alloc(50 * 1024 * 1024, 'b') });
		const started = performance.now();
		expect(await send('/huge')).toMatchObject({ statusCode: 200, response: 'b'.repeat(1_024) });
		expect(performance.now() - started).toBeLessThan(5_000);
	});

	it('that answers with bytes that are no text is read all the same', async () => {
		receiver.reply('/bytes', { status: 200, body: Buffer.from([0x61, 0xff, 0xfe, 0x62]) });
		expect(await send('/bytes')).toMatchObject({ response: 'a\uFFFD\uFFFDb' });
	});

	it('that sends a packed answer is not unpacked', async () => {
		const body = Buffer.from([0x1f, 0x8b, 0x08, 0x00]);
		receiver.reply('/packed', { status: 200, headers: { 'content-encoding': 'gzip' }, body });
		expect(await send('/packed')).toMatchObject({ statusCode: 200 });
	});

	it.each([
		['cut', 'content-length: 20\r\n\r\nhel', 'drop', 'hel'],
		['cut in a chunk', 'transfer-encoding: chunked\r\n\r\nff\r\nhel', 'drop', 'hel'],
		['not in chunks', 'transfer-encoding: chunked\r\n\r\nhello', 'drop', ''],
		['longer than said', 'content-length: 3\r\n\r\nhello', 'hang', 'hel'],
		['endless', 'transfer-encoding: chunked\r\n\r\n3\r\nhel\r\n', 'hang', 'hel'],
		['never there', 'content-length: 5\r\n\r\n', 'hang', '']
	] as const)(
		'whose answer is %s has answered: the status line decides',
		async (what, rest, then, response) => {
			const answers = [200, 503].map((status) => {
				const path = `/${what.replaceAll(' ', '-')}-${status}`;
				receiver.reply(path, { bytes: `HTTP/1.1 ${status} X\r\nretry-after: 7\r\n${rest}`, then });
				return send(path);
			});
			expect(await Promise.all(answers)).toEqual(
				[200, 503].map((statusCode) => ({ statusCode, retryAfter: '7', response }))
			);
		}
	);

	it.each(['HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'])(
		'that answers %j first is heard to the end',
		async (interim) => {
			const bytes = `${interim.repeat(2)}HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\nok`;
			receiver.reply('/interim', { bytes, then: 'hang' });
			expect(await send('/interim')).toMatchObject({ statusCode: 201, response: 'ok' });
		}
	);

	it('that hangs is left after 15 seconds, or when we end', async () => {
		receiver.reply('/hang', 'hang');
		const stop = new AbortController();
		const interrupted = send('/hang', stop.signal);
		await expect.poll(() => receiver.at('/hang')).toHaveLength(1);
		stop.abort();
		expect(await interrupted).toEqual({ failure: 'interrupted' });
		const limits: number[] = [];
		const { timeout } = AbortSignal;
		vi.spyOn(AbortSignal, 'timeout').mockImplementation(
			(ms) => (limits.push(ms), timeout.call(AbortSignal, 500))
		);
		expect(await send('/hang')).toEqual({ failure: 'timeout' });
		expect(limits).toEqual([15_000]);
		vi.restoreAllMocks();
	});
});
