/** Rules for the body of every request under /v1. */
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { orderOf } from '../../../support/api/api.ts';
import { recorded, useFixture } from '../../../support/server/fixture.ts';

const kib = 1024;

/** 400 for whatever is wrong with a body before its fields are looked at: [what, request, code]. */
const BAD_BODIES = [
	['no body', { headers: { 'content-type': 'application/json' } }, 'invalid_json'],
	['an empty body', { body: '' }, 'invalid_json'],
	['broken JSON', { body: '{"router_id": 3,' }, 'invalid_json'],
	['NaN', { body: '{"router_id": NaN}' }, 'invalid_json'],
	['bytes that are not UTF-8', { body: new Uint8Array([0x7b, 0xff, 0x7d]) }, 'invalid_json'],
	['an array', { body: '[]' }, 'validation_failed'],
	['null', { body: 'null' }, 'validation_failed'],
	['a string', { body: '"text"' }, 'validation_failed'],
	['a number', { body: '7' }, 'validation_failed'],
	['17 KiB', { body: JSON.stringify({ phone: 'x'.repeat(17 * kib) }) }, 'body_too_large'],
	['2 MiB', { body: 'x'.repeat(2 * kib * kib) }, 'body_too_large'],
	['no content type', { body: '{}', headers: { 'content-type': '' } }, 'unsupported_media_type'],
	...[
		...['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/plain'],
		...['text/json', 'application/jsonx', 'application/xml; as=application/json']
	].map(
		(type) => [type, { body: '{}', headers: { 'content-type': type } }, 'unsupported_media_type'] as const
	)
] as const;

/** A body of unknown length, sent in pieces. */
function chunks(count: number, size: number): ReadableStream<Uint8Array> {
	let sent = 0;
	return new ReadableStream({
		pull(controller) {
			sent += 1;
			if (sent > count) controller.close();
			else controller.enqueue(Buffer.alloc(size, 'x'));
		}
	});
}

const fixture = useFixture({ database: 'sqlite' });

it.each(BAD_BODIES)('400 for %s, and nothing is changed', async (_what, request, code) => {
	const { api } = fixture();
	const before = await recorded(fixture());
	for (const path of ['/v1/sessions', '/v1/payments/mobile-money', '/v1/webhooks/register']) {
		await api.refused(`400 ${code}`, 'POST', path, request);
	}
	expect(await recorded(fixture())).toEqual(before);
});

it.each([
	['17 KiB', 17],
	['2 MiB', 2 * kib]
])('400 body_too_large for %s of unknown length', async (_what, count) => {
	const { api } = fixture();
	await api.refused('400 body_too_large', 'POST', '/v1/sessions', { stream: chunks(count, kib) });
});

it.each([100, 300, 2 * kib])('a refused body of %i KiB leaves its connection usable', async (size) => {
	const { server } = fixture();
	const connection = new Agent({ keepAlive: true, maxSockets: 1 });
	const statusOf = async (method: string, path: string, body: string) => {
		const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
		const sent = request(server.url + path, { method, headers, agent: connection }).end(body);
		const [answer]: IncomingMessage[] = await once(sent, 'response');
		answer?.resume();
		return answer?.statusCode;
	};
	expect(await statusOf('POST', '/v1/sessions', 'x'.repeat(size * kib))).toBe(401);
	expect(await statusOf('GET', '/v1/routers/1', '')).toBe(401);
	connection.destroy();
});

it.each(['gzip', 'br', 'x-gzip', 'gzip, identity', 'aes128gcm'])(
	'400 unsupported_media_type for a body with Content-Encoding %s, naming the header',
	async (encoding) => {
		const { api } = fixture();
		const before = await recorded(fixture());
		for (const body of [gzipSync(JSON.stringify(orderOf())), JSON.stringify(orderOf())]) {
			const request = { body, headers: { 'content-encoding': encoding } };
			const problem = await api.refused('400 unsupported_media_type', 'POST', '/v1/sessions', request);
			expect(problem.detail).toContain('Content-Encoding');
		}
		expect(await recorded(fixture())).toEqual(before);
	}
);

it('takes a body that says it is not packed', async () => {
	for (const encoding of ['identity', 'Identity', '']) {
		const request = { body: orderOf(), headers: { 'content-encoding': encoding } };
		expect(await fixture().api.send('POST', '/v1/sessions', request)).toMatchObject({ status: 201 });
	}
});

it('takes exactly 16 KiB, and JSON under another name', async () => {
	const text = JSON.stringify(orderOf());
	const padded = text + ' '.repeat(16 * kib - text.length);
	for (const type of [
		'Application/vnd.shop+JSON; charset=utf-8',
		'application/vnd.shop.v1+json',
		'application/json ; charset="utf-8"'
	]) {
		const headers = { 'content-type': type };
		const { status } = await fixture().api.send('POST', '/v1/sessions', { body: padded, headers });
		expect([type, status]).toEqual([type, 201]);
	}
	await fixture().api.refused('400 body_too_large', 'POST', '/v1/sessions', { body: `${padded} ` });
});

it('ignores the body of a GET and of a DELETE', async () => {
	const { api } = fixture();
	const { id } = await api.createSession();
	const request = { body: '{{{', headers: { 'content-type': 'text/plain' } };
	expect(await api.send('DELETE', `/v1/sessions/${id}`, request)).toMatchObject({ status: 200 });
	const big = { body: 'x'.repeat(2 * kib * kib) };
	expect(await api.send('DELETE', '/v1/sessions/999999', big)).toMatchObject({ status: 404 });
});
