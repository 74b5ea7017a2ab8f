/** Requests as no HTTP library sends them: whatever arrives, /v1 answers by the contract, and as JSON. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { orderOf } from '../support/api.ts';
import { assertContract } from '../support/contract-assertions.ts';
import { DATABASES, demoKey, eventually, recorded, useFixture } from '../support/fixture.ts';

const kib = 1024;
const limitMs = 5_000;

/** Parts of an address that are no host. */
const STRANGE_HOSTS = ['Host: evil.test/x?y', 'Host: a@evil.test', 'Host: evil.test#x', 'Host: a\\b'];

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

/** The answers of one connection, one after the other; each says how long it is. */
function parseAnswers(raw: string): RawAnswer[] {
	const answers: RawAnswer[] = [];
	for (let rest = raw; rest !== '';) {
		const bodyAt = rest.indexOf('\r\n\r\n') + 4;
		const length = Number(/^content-length: (\d+)/im.exec(rest.slice(0, bodyAt))?.[1] ?? 0);
		answers.push(parseAnswer(rest.slice(0, bodyAt + length)));
		rest = rest.slice(bodyAt + length);
	}
	return answers;
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

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database, env: { BODY_SIZE_LIMIT: '2K' } });

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
		for (const path of [
			'/%76%31/routers/1',
			'/v%31/%72outers/%31',
			'//%761//router%73/1',
			'/v1/routers/./1'
		]) {
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

	it('HTTP/1.0 needs no Host; what HTTP/1.1 leaves out or breaks of it is a 400', async () => {
		expect(await raw(['GET /v1/routers/1 HTTP/1.0'], { host: null })).toMatchObject({ status: 200 });
		for (const host of [
			null,
			'Host: a b',
			'Host:',
			'Host: [::zz',
			'Host: airtill.test:99999',
			...STRANGE_HOSTS
		]) {
			const answer = await raw(['GET /v1/routers/1 HTTP/1.1'], { host });
			expect([host, codeOf(answer)]).toEqual([host, '400 validation_failed']);
		}
		for (const method of ['GET', 'TRACE']) {
			const answer = await raw([`${method} /x/../v1/routers/1 HTTP/1.1`], { host: null });
			expect([method, codeOf(answer)]).toEqual([method, '400 validation_failed']);
		}
	});

	it('pages need a host as /v1 does, and one that is none is no part of their address', async () => {
		const ask = (line: string, host: string | null) =>
			exchange(
				fixture().server.port,
				[line, ...(host === null ? [] : [host]), 'Connection: close\r\n\r\n'].join('\r\n')
			);
		for (const host of ['Host: airtill.test', 'Host: airtill.test:81', 'Host: [::1]:81', 'Host: 127.0.0.1']) {
			expect([host, await ask('GET /resume HTTP/1.1', host)]).toEqual([
				host,
				expect.stringMatching(/^HTTP\/1.1 200 /)
			]);
		}
		expect(await ask('GET /resume HTTP/1.0', null)).toMatch(/^HTTP\/1.1 200 /);
		for (const host of [null, 'Host: a b', 'Host:', 'Host: airtill.test:99999', ...STRANGE_HOSTS]) {
			for (const path of ['/', '/resume', '/r/3', '/healthz', '/nothing']) {
				const answer = parseAnswer(await ask(`GET ${path} HTTP/1.1`, host));
				expect([host, path, codeOf(answer)]).toEqual([host, path, '400 validation_failed']);
			}
		}
		const changing = ['POST /resume HTTP/1.1', 'Origin: http://evil.test', 'Content-Length: 0'].join('\r\n');
		expect(codeOf(parseAnswer(await ask(changing, 'Host: evil.test/x?y')))).toBe('400 validation_failed');
	});

	it('an expectation that nobody knows is ignored', async () => {
		expect(await raw(['GET /v1/routers/1 HTTP/1.1', 'Expect: tea'])).toMatchObject({ status: 200 });
	});

	it.each([
		['an address beyond 16 KiB', [`GET /v1/routers?cursor=${'a'.repeat(20 * kib)} HTTP/1.1`], 'out_of_range'],
		['headers beyond 16 KiB', ['GET /v1/routers/1 HTTP/1.1', `X-A: ${'a'.repeat(20 * kib)}`], 'out_of_range'],
		['a method that is none', ['SELL /v1/routers/1 HTTP/1.1'], 'invalid_format'],
		['a blank in the address', ['GET /v1/routers/1 x HTTP/1.1'], 'invalid_format'],
		['a NUL in the address', ['GET /v1/routers/1?a=\0 HTTP/1.1'], 'invalid_format'],
		['a version that is none', ['GET /v1/routers/1 HTTP/7'], 'invalid_format'],
		['a header without a name', ['GET /v1/routers/1 HTTP/1.1', ': x'], 'invalid_format'],
		[
			'two lengths',
			['POST /v1/sessions HTTP/1.1', 'Content-Length: 2', 'Transfer-Encoding: chunked'],
			'invalid_format'
		]
	])('400 validation_failed for %s, with all headers of an error', async (_what, head, code) => {
		const answer = await raw(head);
		expect(codeOf(answer)).toBe('400 validation_failed');
		expect(answer.body).toMatchObject({
			title: 'Request validation failed',
			request_id: answer.headers.get('x-request-id'),
			errors: [{ in: 'header', pointer: '', code }]
		});
		expect(Object.fromEntries(answer.headers)).toMatchObject({
			'content-type': 'application/problem+json',
			'cache-control': 'no-store',
			'x-content-type-options': 'nosniff',
			'content-length': String(Buffer.byteLength(answer.text))
		});
	});

	it('400 for a body beyond the adapter’s own limit, which a deployment may set lower', async () => {
		const { api } = fixture();
		const body = `${JSON.stringify(orderOf())}${' '.repeat(3 * kib)}`;
		await api.refused('400 body_too_large', 'POST', '/v1/sessions', { body });
		const stream = new Blob([body]).stream();
		await api.refused('400 body_too_large', 'POST', '/v1/sessions', { stream });
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
		expect(codeOf(parseAnswer(await exchange(server.port, broken)))).toBe('400 validation_failed');
		await eventually('both are over', async () => socket.destroyed);
		expect(await recorded(fixture())).toEqual(before);
		expect(server.stderr()).toBe('');
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

	const appKey = () => demoKey(fixture().server, 'app');

	/** A request that may be followed by others. */
	const kept = (first: string, body = '', headers = ['Host: airtill.test'], bearer = appKey()) => {
		const key = `Authorization: Bearer ${bearer}`;
		const framing = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`];
		return [`${first} HTTP/1.1`, ...headers, key, ...(body === '' ? [] : framing), '', body].join('\r\n');
	};

	it.each([
		['two letters', 'xx'],
		['a blank', ' '],
		['a method that is none', 'FOO /v1/x HTTP/1.1\r\n\r\n'],
		['a malformed header line', 'GET /v1/routers/1 HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n'],
		['headers beyond 16 KiB', `GET /v1/routers/1 HTTP/1.1\r\nX-A: ${'a'.repeat(20 * kib)}`],
		['a request without a host', 'GET /v1/routers/1 HTTP/1.1\r\n\r\n'],
		['a host that is none', 'GET /v1/routers/1 HTTP/1.1\r\nHost: a b\r\n\r\n']
	])('a payment that %s follow has its own answer, first; they get theirs', async (_what, after) => {
		const { server } = fixture();
		const { api, key } = await fixture().newKey();
		const { id, amount } = await api.createSession();
		const body = JSON.stringify({ session_id: id, amount, phone: orderOf().phone });
		const payment = kept('POST /v1/payments/mobile-money', body, undefined, key);
		const answers = parseAnswers(await exchange(server.port, kept('GET /v1/routers/1') + payment + after));
		expect(answers.map(codeOf)).toEqual(['200 undefined', '201 undefined', '400 validation_failed']);
		expect(answers[1]?.body).toMatchObject({ session_id: id, status: 'pending' });
		expect(answers[2]?.headers.get('connection')).toBe('close');
		expect(server.stderr()).toBe('');
	});

	it('a page that something broken follows is shown whole', async () => {
		const text = await exchange(fixture().server.port, `${kept('GET /docs')}GARB`);
		expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['200', '400']);
		expect(text.indexOf('</html>')).toBeGreaterThan(0);
		expect(text.indexOf('</html>')).toBeLessThan(text.indexOf('HTTP/1.1 400'));
	});

	it('what comes after a request without a host is not carried out, because nobody would hear of it', async () => {
		const { server } = fixture();
		const before = await recorded(fixture());
		const order = kept('POST /v1/sessions', JSON.stringify(orderOf()));
		const answers = parseAnswers(await exchange(server.port, kept('GET /v1/routers/1', '', []) + order));
		expect(answers.map(codeOf)).toEqual(['400 validation_failed']);
		expect(await recorded(fixture())).toEqual(before);
	});

	it('CONNECT is a wrong method like any other, after the answers before it', async () => {
		const { server } = fixture();
		const refused = await exchange(server.port, kept('GET /v1/routers/1') + kept('CONNECT /v1/routers'));
		const [first, second, ...more] = parseAnswers(refused);
		expect([first, second].map((answer) => answer && codeOf(answer))).toEqual([
			'200 undefined',
			'404 route_not_found'
		]);
		expect(second?.headers.get('allow')).toBe('GET, HEAD');
		expect(second?.headers.get('connection')).toBe('close');
		expect(more).toEqual([]);
		const elsewhere = await exchange(server.port, kept('GET /v1/routers/1') + kept('CONNECT shop.test:443'));
		expect(elsewhere).toMatch(/^HTTP\/1\.1 200 [^]*HTTP\/1\.1 404 /);
	});

	it('a body that breaks its own framing has the answer of its request, with its limits and host', async () => {
		const { server } = fixture();
		const framing = ['Host: shop.test', 'Content-Type: application/json', 'Transfer-Encoding: chunked'];
		const order = `${kept('POST /v1/sessions', '', framing)}zz\r\n${JSON.stringify(orderOf())}`;
		const answers = parseAnswers(await exchange(server.port, kept('GET /v1/routers/1') + order));
		expect(answers.map(codeOf)).toEqual(['200 undefined', '400 validation_failed']);
		expect(answers[1]?.body).toMatchObject({ type: 'http://shop.test/problems/validation_failed' });
		expect([...(answers[1]?.headers.keys() ?? [])]).toContain('ratelimit');
		expect(answers[1]?.headers.get('connection')).toBe('close');
	});

	it.each([
		['no HTTP', 'GARBAGE\r\n\r\n'],
		['no host', 'GET /v1/routers HTTP/1.1\r\n\r\n'],
		['a host that is none', 'GET /v1/routers HTTP/1.1\r\nHost: a b\r\n\r\n'],
		['CONNECT', 'CONNECT /v1/routers HTTP/1.1\r\nHost: a\r\n\r\n']
	])('a connection with %s is taken down, also when the other side keeps it open', async (_what, bytes) => {
		const socket = connect({ port: fixture().server.port, host: '127.0.0.1', allowHalfOpen: true });
		socket.write(bytes);
		let text = '';
		socket.on('data', (chunk) => (text += String(chunk)));
		await once(socket, 'end');
		expect(text).toMatch(/^HTTP\/1\.1 40[01] /);
		let gone = false;
		socket.once('error', () => (gone = true));
		await eventually('the server is gone', async () => gone || (socket.write('x'), false));
		socket.destroy();
	});

	it('HEAD has the headers of GET, but for those that name the request', async () => {
		for (const path of [
			'/v1/routers/1',
			'/v1/routers?lat=0.3476&lon=32.5825&radius=5000&limit=1',
			'/v1/routers/999'
		]) {
			const named = [
				'date',
				'x-request-id',
				'transfer-encoding',
				'content-length',
				'keep-alive',
				'connection'
			];
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
});
