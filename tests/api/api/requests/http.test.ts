/** Requests as no HTTP library sends them: whatever arrives, /v1 answers by the contract, and as JSON. */
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { orderOf } from '../../../support/api/api.ts';
import { assertContract } from '../../../support/api/contract-assertions.ts';
import { demoKey, eventually, recorded, useFixture } from '../../../support/server/fixture.ts';

const limitMs = 5_000;

interface RawAnswer {
	status: number;
	headers: Headers;
	body: unknown;
	text: string;
}

/** Sends bytes as they are, and reads until the server ends the connection. */
async function exchange(port: number, bytes: string): Promise<string> {
	const socket = connect(port, '127.0.0.1');
	socket.setTimeout(limitMs, () =>
		socket.destroy(new Error(`No end of the answer to ${bytes.slice(0, 200)}`))
	);
	socket.write(bytes);
	const chunks: Buffer[] = [];
	for await (const chunk of socket) chunks.push(chunk as Buffer);
	return Buffer.concat(chunks).toString();
}

function parseAnswer(raw: string): RawAnswer {
	const [head = '', ...rest] = raw.split('\r\n\r\n');
	const [statusLine = '', ...lines] = head.split('\r\n');
	const headers = new Headers(
		lines.map((line): [string, string] => [
			line.slice(0, line.indexOf(':')),
			line.slice(line.indexOf(':') + 1)
		])
	);
	const framed = rest.join('\r\n\r\n');
	const text =
		headers.get('transfer-encoding') === 'chunked'
			? framed.replace(/(^|\r\n)[0-9a-f]+\r\n/g, '').trim()
			: framed;
	const body: unknown = text === '' ? null : JSON.parse(text);
	return { status: Number(statusLine.split(' ')[1]), headers, body, text };
}

const fixture = useFixture({ database: 'sqlite' });

/** One request; `head` is its first line and any headers before those that every request has. */
async function raw(head: string[], { host = 'Host: airtill.test' as string | null, body = '' } = {}) {
	const { server } = fixture();
	const lines = [
		...head,
		...(host === null ? [] : [host]),
		`Authorization: Bearer ${demoKey(server, 'app')}`,
		'Connection: close'
	];
	return parseAnswer(await exchange(server.port, `${lines.join('\r\n')}\r\n\r\n${body}`));
}

const codeOf = ({ status, body }: RawAnswer) => `${status} ${(body as { code?: string }).code}`;

const read = async () => (await fixture().api.send('GET', '/v1/routers/1')).body;

it('the address may be absolute, as for a proxy, and its host is the one that counts', async () => {
	const answer = await raw(['GET http://shop.test:81/v1/routers/1?x=1 HTTP/1.1']);
	expect([answer.status, answer.body]).toEqual([200, await read()]);
	const refused = await raw(['GET http://shop.test:81/v1/nothing HTTP/1.1']);
	expect(refused.body).toMatchObject({ type: 'http://shop.test:81/problems/route_not_found' });
});

it('“lang” is a parameter like any other where nothing is translated', async () => {
	const answer = await raw(['GET /v1/routers/1?lang=sw HTTP/1.1']);
	expect([answer.status, answer.body]).toEqual([200, await read()]);
	for (const [path, status] of [
		['/healthz?lang=sw', 200],
		['/docs?lang=fr', 200],
		['/openapi.json?lang=fr', 200],
		['//v1/nothing?lang=fr', 401],
		['/r/3?lang=fr', 303]
	] as const) {
		const page = await fetch(fixture().server.url + path, { redirect: 'manual' });
		expect([path, page.status]).toEqual([path, status]);
		await page.arrayBuffer();
	}
});

it('characters that need no percent-encoding may have it all the same', async () => {
	for (const path of ['/%76%31/routers/1', '/v%31/%72outers/%31', '//%761//router%73/1', '/v1/routers/./1']) {
		const answer = await raw([`GET ${path} HTTP/1.1`]);
		expect([path, answer.status, answer.body]).toEqual([path, 200, await read()]);
	}
	const wrong = await raw(['DELETE /v1/%72outers HTTP/1.1']);
	expect([codeOf(wrong), wrong.headers.get('allow')]).toEqual(['404 route_not_found', 'GET, HEAD']);
	const type = 'Content-Type: application/x-www-form-urlencoded';
	const form = await raw(['POST /%761/sessions HTTP/1.1', type, 'Content-Length: 3'], { body: 'a=b' });
	expect(codeOf(form)).toBe('400 unsupported_media_type');
	expect(codeOf(await raw(['GET /%76%31/%FF HTTP/1.1']))).toBe('400 validation_failed');
	// What means something stays as it is.
	for (const path of ['/v1%2Frouters/1', '/v1/routers%2F1', '/v1/routers/1%2Fx', '/V1/routers/1']) {
		expect((await fetch(fixture().server.url + path)).status, path).not.toBe(200);
	}
});

it('HTTP/1.0 needs no Host; HTTP/1.1 needs a valid one', async () => {
	expect(await raw(['GET /v1/routers/1 HTTP/1.0'], { host: null })).toMatchObject({ status: 200 });
	for (const [line, status] of [
		['GET /readyz HTTP/1.0', 200],
		['HEAD /healthz HTTP/1.0', 200],
		['OPTIONS / HTTP/1.0', 204],
		['OPTIONS * HTTP/1.0', 204],
		['GET /r/3 HTTP/1.0', 200],
		['GET /readyz HTTP/1.1\r\nHost:\r\nConnection: close', 200],
		['GET http://shop.test:81/r/3 HTTP/1.1\r\nHost: x\r\nConnection: close', 200]
	] as const) {
		expect([line, (await exchange(fixture().server.port, `${line}\r\n\r\n`)).slice(9, 12)]).toEqual([
			line,
			`${status}`
		]);
	}
	for (const host of [null, 'Host: [::zz', 'Host: airtill.test:99999', 'Host: evil.test/x?y']) {
		const line = ['GET /v1/routers/1 HTTP/1.1', ...(host === null ? [] : [host]), 'Connection: close'];
		const answer = await exchange(fixture().server.port, `${line.join('\r\n')}\r\n\r\n`);
		expect([host, answer.slice(0, 12)]).toEqual([host, 'HTTP/1.1 400']);
	}
});

it('an expectation that nobody knows is ignored', async () => {
	expect(await raw(['GET /v1/routers/1 HTTP/1.1', 'Expect: tea'])).toMatchObject({ status: 200 });
});

it('a body that breaks off does nothing, and is no error of ours', async () => {
	const { server } = fixture();
	const before = await recorded(fixture());
	const head = [
		'POST /v1/sessions HTTP/1.1',
		'Host: airtill.test',
		`Authorization: Bearer ${demoKey(server, 'app')}`,
		'Content-Type: application/json'
	];
	const text = JSON.stringify(orderOf());
	const socket = connect(server.port, '127.0.0.1');
	socket.write([...head, `Content-Length: ${text.length + 1}`, '', text].join('\r\n'), () =>
		socket.destroy()
	);
	const broken = [...head, 'Transfer-Encoding: chunked', 'Connection: close', '', 'zz', text].join('\r\n');
	expect(await exchange(server.port, broken)).toMatch(/^(HTTP\/1\.1 400 |$)/);
	await eventually('both are over', async () => socket.destroyed);
	expect(await recorded(fixture())).toEqual(before);
	expect(server.stderr()).toBe('');
});

it('a backslash in the path is a character like any other', async () => {
	const { status, body } = await raw(['GET /v1/routers\\1 HTTP/1.1']);
	expect([status, body]).toEqual([404, expect.objectContaining({ code: 'route_not_found' })]);
});

it('two requests on one connection get two answers, in their order', async () => {
	const { server } = fixture();
	const head = (path: string, last: boolean) =>
		[
			`GET ${path} HTTP/1.1`,
			'Host: airtill.test',
			`Authorization: Bearer ${demoKey(server, 'app')}`,
			`Connection: ${last ? 'close' : 'keep-alive'}`,
			'\r\n'
		].join('\r\n');
	const text = await exchange(server.port, head('/v1/routers/1', false) + head('/v1/routers/2', true));
	expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['200', '200']);
	expect(text.indexOf('"id":1')).toBeLessThan(text.indexOf('"id":2'));
});

it('HEAD has the headers of GET, but for those that name the request', async () => {
	for (const path of [
		'/v1/routers/1',
		'/v1/routers?lat=0.3476&lon=32.5825&radius=5000&limit=1',
		'/v1/routers/999'
	]) {
		const named = ['date', 'x-request-id', 'transfer-encoding', 'content-length', 'keep-alive', 'connection'];
		const headersOf = async (method: string) => {
			const { status, headers } = await fixture().api.send(method, path);
			const kept = [...headers].filter(([name]) => !named.includes(name) && !/ratelimit/.test(name));
			return { status, kept };
		};
		expect(await headersOf('HEAD')).toEqual(await headersOf('GET'));
	}
});

it('raw answers keep the contract, too', async () => {
	for (const [method, path] of [
		['GET', '/v1/routers/1'],
		['GET', '/v1/routers/x'],
		['DELETE', '/v1/sessions/999999']
	] as const) {
		assertContract({ method, path, ...(await raw([`${method} ${path} HTTP/1.1`])) });
	}
});
