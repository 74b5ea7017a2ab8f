/** The documentation contains everything that the OpenAPI document describes, and its links work. */
import { describe, expect, it } from 'vitest';
import { asJson, at } from '../../../support/api/document.ts';
import { page, plain } from '../../../support/pages/pages.ts';
import { startServer } from '../../../support/server/server.ts';
import { SECRET } from '../../../support/server/fixture.ts';
import { CONSOLE, OWN, useDocumentation } from './use-documentation.ts';

const { server, document, pages, pathOf, names, codes, get, section, operations } = useDocumentation({
	RATE_LIMIT_DEFAULT: '123',
	RATE_LIMIT_FAILED_KEYS: '456',
	RECONCILE_HOURS: '48'
});

describe('links', () => {
	it('lead to existing pages and anchors', () => {
		expect(pages.size).toBeGreaterThan(40);
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
		for (const path of [
			'/problems/no_such_code',
			'/docs/endpoints/none',
			'/docs/none',
			'/docs/guides/none'
		]) {
			expect((await page(server().url, path)).status, path).toBe(404);
		}
	});

	it('to the list of deprecations lead to the guide', async () => {
		const response = await fetch(`${server().url}/docs/deprecations`);
		expect(response.url).toContain('/docs/versioning');
		expect(plain(await response.text())).toContain('Nothing is deprecated');
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

	it('has one title, one first heading and unique ids', () => {
		const titles = new Set<string>();
		for (const { path, text } of pages.values()) {
			expect(text.match(/<h1/g), path).toHaveLength(1);
			expect(text.match(/<title>/g), path).toHaveLength(1);
			titles.add(/<title>(.*?)<\/title>/.exec(text)?.[1] ?? '');
			const ids = [...text.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
			expect(
				ids.filter((id, index) => ids.indexOf(id) !== index),
				path
			).toEqual([]);
		}
		expect(titles.size).toBe(pages.size);
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
	it('every operation with its parameters, body fields and statuses', () => {
		const missing: string[] = [];
		const list = plain(get('/docs/endpoints').text);
		for (const { name, path, method, operation } of operations()) {
			const home = [...pages.values()].find(
				({ ids, path: one }) => ids.has(name) && one.startsWith('/docs/endpoints/')
			);
			const said = home ? section(home, name) : '';
			const parameters = (operation['parameters'] ?? []) as Record<string, string>[];
			const body = at(operation, 'requestBody', 'content', 'application/json', 'schema', '$ref');
			const wanted = [
				method.toUpperCase(),
				path,
				operation['summary'],
				...parameters.map(
					({ name: own, $ref }) => own ?? at(document(), ...($ref ?? '').slice(2).split('/'), 'name')
				),
				...(typeof body === 'string' ? names(...body.slice(2).split('/'), 'properties') : []),
				...Object.keys(asJson(operation['responses']))
			].map(String);
			for (const text of wanted) if (!said.includes(text)) missing.push(`${name}: ${text}`);
			if (!home?.code.has(`curl ${name}`) && !home?.code.has(`body ${name}`)) missing.push(`${name}: code`);
			if (!list.includes(path) || !list.includes(String(operation['summary']))) missing.push(`${name}: list`);
		}
		expect(missing).toEqual([]);
	});

	it('every example of a response and of an event word for word', () => {
		const text = [...pages.values()].map((one) => plain(one.text)).join('\n');
		const missing: string[] = [];
		const look = (value: unknown, where: string): void => {
			if (typeof value !== 'object' || value === null) return;
			for (const [name, example] of Object.entries(asJson(asJson(value)['examples']))) {
				const shown = JSON.stringify(asJson(example)['value'], null, 2);
				// The curl examples contain the request bodies.
				if (!/^paths.*requestBody/.test(where) && !text.includes(shown)) missing.push(`${where} ${name}`);
			}
			for (const [name, part] of Object.entries(value)) {
				if (name !== 'examples') look(part, `${where}/${name}`);
			}
		};
		look(document()['paths'], 'paths');
		look(document()['webhooks'], 'webhooks');
		expect(missing).toEqual([]);
	});

	it('every field of every schema', () => {
		const missing: string[] = [];
		const text = [...pages.values()].map((one) => plain(one.text)).join('\n');
		for (const name of names('components', 'schemas')) {
			const home = [...pages.values()].find(
				({ ids, path }) => ids.has(name) && path.startsWith('/docs/endpoints/')
			);
			const said = home ? section(home, name) : text;
			for (const field of names('components', 'schemas', name, 'properties')) {
				if (!said.includes(field)) missing.push(`${name}.${field}`);
			}
		}
		expect(missing).toEqual([]);
	});

	it('every error with its meaning, advice and example', () => {
		expect(codes().length).toBeGreaterThan(30);
		const catalogue = get('/docs/errors');
		for (const code of codes()) {
			expect(catalogue.links, code).toContain(`/problems/${code}`);
			expect(catalogue.ids, code).toContain(code);
			const { text } = get(`/problems/${code}`);
			expect(plain(text), code).toContain(`"code": "${code}"`);
			expect(plain(text), code).toMatch(/What to do: \S.{12}/);
			expect(text, code).toMatch(/href="\/docs\/endpoints/);
		}
	});

	it('the sections and endpoints that contain the words of a search, and how to search again', async () => {
		const found = async (query: string) =>
			(await page(server().url, `/docs/search?q=${encodeURIComponent(query)}`)).links;
		expect(await found('idempotency')).toContain('/docs/limits#idempotency');
		expect(await found('STATEMENT check')).toContain('/docs/guides/operators#keep-the-books');
		expect(await found('list payments account')).toContain('/docs/endpoints/payments#listPayments');
		expect(await found('payer_prompt_limit')).toContain('/docs/errors#payer_prompt_limit');
		const sections = (await found('webhook')).filter((link) => /^\/docs\/.*#/.test(link));
		for (const link of sections) expect(get(link.replace(/#.*/, '')).ids, link).toContain(link.split('#')[1]);
		const nothing = await page(server().url, `/docs/search?q=${encodeURIComponent('"><script>zzzz')}`);
		expect(nothing.text).toContain('Try fewer');
		expect(nothing.text).not.toContain('<script>zzzz');
		expect(plain((await page(server().url, '/docs/search')).text)).toContain('Enter a word');
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
		[
			'the codes of invalid values',
			'/problems/validation_failed',
			7,
			() => enumOf('ProblemItem', 'properties', 'code')
		],
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
		expect(text).toMatch(/valid key per address in 60 seconds\s*456/);
		expect(text).toMatch(/unanswered payment\s*48 hours/);
		expect(get('/docs').code.get('base-url')).toBe(`${server().url}/v1`);
		expect(plain(get('/docs').text)).toContain('sandbox');
	});

	it('every setting with its default', () => {
		const text = plain(get('/docs/guides/configuration').text);
		for (const name of ['DATABASE_URL', 'MTN_API_KEY', 'PAWAPAY_API_TOKEN', 'RECONCILE_HOURS']) {
			expect(text).toContain(name);
		}
		expect(text).not.toContain('<!--');
	});
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

it('buyer pages link to the documentation once, at their foot', async () => {
	for (const path of ['/', '/r/3']) {
		expect((await page(server().url, path)).links.filter((link) => OWN.test(link))).toEqual(['/docs']);
	}
});
