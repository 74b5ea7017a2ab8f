/** The documentation: its links work, it is rendered once, and readers find what they ask. */
import { get as httpGet } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { asJson, at } from '../../../support/api/document.ts';
import { page, plain } from '../../../support/pages/pages.ts';
import { startServer } from '../../../support/server/server.ts';
import { SECRET } from '../../../support/server/fixture.ts';
import { CONSOLE, OWN, useDocumentation } from './use-documentation.ts';

const { server, document, pages, pathOf, names, codes, get, operations } = useDocumentation({
	RATE_LIMIT_DEFAULT: '123',
	RECONCILE_HOURS: '48'
});

/** The bytes of a page as a reader with these headers gets them; `fetch` would not send another Host. */
const asked = (port: number, path: string, headers: Record<string, string>): Promise<Buffer> =>
	new Promise((resolve, reject) => {
		httpGet({ host: '127.0.0.1', port, path, headers }, (answer) => {
			buffer(answer).then(resolve, reject);
		}).on('error', reject);
	});

describe('links', () => {
	it('lead to existing pages and anchors', () => {
		expect(pages.size).toBeGreaterThan(20);
		const broken: string[] = [];
		for (const { path, status, links } of pages.values()) {
			if (status !== 200) broken.push(`${path}: ${status}`);
			for (const link of links) {
				const to = pathOf(link, path);
				const target = pages.get(to.path);
				// The script of the console reads its anchors.
				const isAnchor = to.anchor !== '' && to.anchor !== 'main' && to.path !== CONSOLE;
				if (to.isOwn && isAnchor && target && !target.ids.has(to.anchor)) broken.push(`${path} -> ${link}`);
			}
		}
		expect(broken).toEqual([]);
	});

	it('out of the documentation lead to pages of this site or to known sites', async () => {
		const outside = new Set(
			[...pages.values()]
				.flatMap(({ path, links }) =>
					links
						.map((link) => ({ link, ...pathOf(link, path) }))
						.filter((to) => !OWN.test(to.path) || !to.isOwn)
				)
				.map(({ link, path, isOwn }) => (isOwn ? path : new URL(link).origin))
		);
		expect([...outside].filter((address) => !address.startsWith('/')).sort()).toEqual([
			'https://africastalking.com',
			'https://www.standardwebhooks.com'
		]);
		for (const path of [...outside].filter((address) => address.startsWith('/'))) {
			expect((await fetch(server().url + path)).status, path).toBe(200);
		}
	});

	it('to unknown pages are 404', async () => {
		for (const path of ['/problems/no_such_code', '/docs/none', '/docs/guides/none']) {
			expect((await page(server().url, path)).status, path).toBe(404);
		}
	});

	it('to earlier addresses lead to the page that replaces them', async () => {
		for (const path of ['/docs/try', '/docs/endpoints', '/docs/endpoints/sessions', '/docs/errors']) {
			const response = await fetch(server().url + path);
			const to = path === '/docs/errors' ? '/problems' : '/docs/api';
			expect([response.status, response.url], path).toEqual([200, server().url + to]);
		}
	});
});

describe('a page', () => {
	it('loads no framework and requests nothing from other hosts', () => {
		for (const { path, text, fetched } of pages.values()) {
			if (path !== CONSOLE) {
				expect(text, path).not.toContain('modulepreload');
				// The enhancement script of all pages.
				expect(text.match(/<script[^>]*src=/g) ?? [], path).toHaveLength(1);
			}
			expect(text.match(/\sstyle="/), path).toBeNull();
			expect(
				fetched.filter((address) => !/^(\.{0,2}\/|data:|#)/.test(address)),
				path
			).toEqual([]);
		}
	});

	it('transfers at most 16 KB', async () => {
		for (const { path } of pages.values()) {
			const response = await fetch(server().url + path, { headers: { 'accept-encoding': 'gzip' } });
			await response.arrayBuffer();
			expect(Number(response.headers.get('content-length')), path).toBeLessThan(16 * 1024);
		}
	});
});

describe('the reference shows', () => {
	it('every endpoint with its summary, also without script', () => {
		const text = plain(get(CONSOLE).text);
		const calls = operations().filter(({ path }) => path.startsWith('/'));
		expect(calls.length).toBeGreaterThan(15);
		for (const { path, method, operation } of calls) {
			expect(text).toContain(`${method.toUpperCase()} /v1${path}`);
			expect(text).toContain(operation['summary']);
		}
	});

	it('every error with its meaning and advice, at the address of its type', async () => {
		expect(codes().length).toBeGreaterThan(30);
		const all = get('/problems');
		for (const code of codes()) {
			expect(all.ids, code).toContain(code);
			const section = plain(all.text.split(`id="${code}"`)[1]?.split('<h3')[0] ?? '');
			const { status, title } = asJson(at(document(), 'components', 'examples', code, 'value'));
			expect(section, code).toContain(`${String(status)} ${String(title)}.`);
			expect(section, code).toMatch(/What to do: \S.{12}/);
			const type = await fetch(`${server().url}/problems/${code}`, { redirect: 'manual' });
			expect([type.status, type.headers.get('location')]).toEqual([308, `/problems#${code}`]);
		}
	});

	it('the sections and endpoints that contain the words of a search, and how to search again', async () => {
		const found = async (query: string) =>
			(await page(server().url, `/docs/search?q=${encodeURIComponent(query)}`)).links;
		expect(await found('STATEMENT check')).toContain('/docs/guides/operators#keep-the-books');
		expect(await found('list payments account')).toContain('/docs/api#/Payments/listPayments');
		const sections = (await found('webhook')).filter((link) => /^\/docs\/.*#[^/]/.test(link));
		for (const link of sections) expect(get(link.replace(/#.*/, '')).ids, link).toContain(link.split('#')[1]);
		const nothing = await page(server().url, `/docs/search?q=${encodeURIComponent('"><script>zzzz')}`);
		expect(nothing.text).toContain('Try fewer');
		expect(nothing.text).not.toContain('<script>zzzz');
		expect(plain((await page(server().url, '/docs/search')).text)).toContain('Enter a word');
	});

	it.each([
		['CORS', '/docs/quickstart#call-from-a-server-no-cors'],
		['401', '/problems#missing_api_key'],
		['test numbers', '/docs/quickstart#sandbox-and-test-numbers'],
		['webhook signature', '/docs/webhooks#verify-the-signature'],
		['Idempotency-Key', '/docs/limits#idempotency'],
		['payer_prompt_limit', '/problems#payer_prompt_limit']
	])('first, for a search for %s, what developers ask with it', async (query, first) => {
		const { text } = await page(server().url, `/docs/search?q=${encodeURIComponent(query)}`);
		const [, hit] = /<ul class="index[^>]*>[^]*?href="([^"]+)"/.exec(text) ?? [];
		expect(hit).toBe(first);
	});

	it('a copy button at every block of code, which only script shows', () => {
		for (const { path, text } of pages.values()) {
			const blocks = text.match(/<pre/g) ?? [];
			expect(text.match(/<button[^>]*hidden[^>]*data-copy=""/g) ?? [], path).toHaveLength(blocks.length);
		}
	});

	it('every event in the webhooks guide', () => {
		expect(names('webhooks')).toContain('session.expired');
		for (const name of names('webhooks')) expect(plain(get('/docs/webhooks').text)).toContain(name);
	});

	const enumOf = (...steps: string[]) =>
		at(document(), 'components', 'schemas', ...steps, 'enum') as string[];
	it.each<[what: string, path: string, least: number, words: () => string[]]>([
		['the codes of invalid values', '/problems', 7, () => enumOf('ProblemItem', 'properties', 'code')],
		['every value of SessionStatus in the states guide', '/docs/states', 6, () => enumOf('SessionStatus')],
		['every value of PaymentStatus in the states guide', '/docs/states', 6, () => enumOf('PaymentStatus')],
		[
			'the test numbers of a sandbox',
			'/docs/quickstart',
			9,
			() => [...'123456789'].map((digit) => `00${digit}`)
		]
	])('%s', (_what, path, least, words) => {
		const text = plain(get(path).text);
		expect(words().length).toBeGreaterThanOrEqual(least);
		expect(words().filter((word) => !text.includes(word))).toEqual([]);
	});

	it('the limits and the address of this installation', () => {
		const text = plain(get('/docs/limits').text);
		expect(text).toMatch(/default rate plan\s*123/);
		expect(text).toMatch(/valid key per address in 60 seconds\s*300/);
		expect(text).toMatch(/unanswered payment\s*48 hours/);
		expect(get('/docs').code.get('base-url')).toBe(`${server().url}/v1`);
		expect(plain(get('/docs').text)).toContain('sandbox');
	});
});

describe('a page that is the same for everybody', () => {
	it('is sent with the address by which the reader came, plain or compressed, and with none of its own', async () => {
		const { port, url } = server();
		for (const path of ['/docs', '/docs/quickstart', '/docs/api', '/problems', '/openapi.json']) {
			for (const host of ['docs.example', 'other.example:81', `127.0.0.1:${port}`]) {
				const plainText = await asked(port, path, { host });
				const packed = await asked(port, path, { host, 'accept-encoding': 'br' });
				expect(brotliDecompressSync(packed).toString(), `${path} ${host}`).toBe(plainText.toString());
				expect(plainText.toString()).not.toContain('any-address');
				if (path !== '/docs/api' && path !== '/problems') {
					expect(plainText.toString()).toContain(`http://${host}/v1`);
					expect(plainText.toString().includes(`${url}/v1`)).toBe(url.endsWith(host));
				}
			}
		}
	});
});

it('the demo keys are for browsers on this machine and for demo accounts only', async () => {
	const { port } = server();
	const keys = async (headers: Record<string, string>) =>
		JSON.parse((await asked(port, '/docs/api/keys', headers)).toString()) as unknown;
	const host = `localhost:${port}`;
	const own = { app: expect.stringMatching(/^atl_test_/), owner: expect.stringMatching(/^atl_test_/) };
	expect(await keys({ host })).toEqual(own);
	expect(await keys({ host: 'sandbox.example' })).toBeNull();
	for (const name of ['x-forwarded-for', 'x-forwarded-proto', 'forwarded', 'via', 'x-real-ip']) {
		expect(await keys({ host, [name]: '127.0.0.1' }), name).toBeNull();
	}
});

it('a live installation warns of real money and has no test numbers', async () => {
	const live = await startServer({
		env: { AIRTILL_MODE: 'live', AIRTILL_SECRET: SECRET, ORIGIN: 'https://wifi.example.org' }
	});
	const [index, quickstart] = await Promise.all([
		page(live.url, '/docs'),
		page(live.url, '/docs/quickstart')
	]).finally(() => live.stop());
	expect(plain(index.text)).toContain('payments are real money');
	expect(plain(index.text)).not.toContain('is a sandbox');
	expect(plain(quickstart.text)).toContain('has no test numbers');
	expect(index.code.get('base-url')).toBe('https://wifi.example.org/v1');
	expect(quickstart.code.get('step 1')).toContain('https://wifi.example.org/v1/routers');
});
