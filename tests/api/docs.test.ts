/** The reference says all that the document says, and every way through it leads somewhere. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asJson, at } from '../support/document.ts';
import { page, plain, type Html } from '../support/pages.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { SECRET } from '../support/fixture.ts';

/** Where a reader may begin. */
const START = '/docs';
const OWN = /^\/(docs|problems)(\/|$|#)/;

let server: TestServer;
const pages = new Map<string, Html>();
let document: Readonly<Record<string, unknown>> = {};

const pathOf = (link: string, from: string) => {
	const { pathname, hash, origin } = new URL(link, server.url + from);
	return { path: pathname, anchor: decodeURIComponent(hash.slice(1)), isOwn: origin === server.url };
};

async function crawl(path: string): Promise<void> {
	if (pages.has(path)) return;
	const found = await page(server.url, path);
	pages.set(path, found);
	for (const link of found.links) {
		const { path: next, isOwn } = pathOf(link, path);
		if (isOwn && OWN.test(next)) await crawl(next);
	}
}

beforeAll(async () => {
	server = await startServer({
		env: { RATE_LIMIT_DEFAULT: '123', RATE_LIMIT_FAILED_KEYS: '456', RECONCILE_HOURS: '48' }
	});
	document = asJson(await (await fetch(`${server.url}/openapi.json`)).json());
	await crawl(START);
	for (const code of codes()) await crawl(`/problems/${code}`);
});
afterAll(() => server?.stop());

const names = (...steps: string[]) => Object.keys(asJson(at(document, ...steps)));

function codes(): string[] {
	const schemas = Object.values(asJson(at(document, 'components', 'schemas')));
	return schemas.flatMap((schema) => {
		const parts = at(schema, 'allOf');
		const own = Array.isArray(parts) ? parts : [];
		return own.map((part) => at(part, 'properties', 'code', 'const')).filter((code) => code !== undefined);
	}) as string[];
}

const get = (path: string): Html => {
	const found = pages.get(path);
	if (!found) throw new Error(`${path} is not linked from the reference`);
	return found;
};

const everything = () => [...pages.values()].map(({ text }) => plain(text)).join('\n');

describe('every link', () => {
	it('of the reference leads to a page that is there, and to an anchor on it', async () => {
		expect(pages.size).toBeGreaterThan(40);
		const broken: string[] = [];
		for (const { path, status, links } of pages.values()) {
			if (status !== 200) broken.push(`${path}: ${status}`);
			for (const link of links) {
				const to = pathOf(link, path);
				const target = pages.get(to.path);
				if (to.isOwn && to.anchor !== '' && target && !target.ids.has(to.anchor) && to.anchor !== 'main')
					broken.push(`${path} -> ${link}`);
			}
		}
		expect(broken).toEqual([]);
	});

	it('out of the reference leads to a page of this site, or to a site that it names', async () => {
		const outside = new Set(
			[...pages.values()]
				.flatMap(({ path, links }) =>
					links
						.map((link) => ({ link, ...pathOf(link, path) }))
						.filter((to) => !OWN.test(to.path) || !to.isOwn)
				)
				.map(({ link, path, isOwn }) => (isOwn ? path : new URL(link).origin))
		);
		expect([...outside].sort()).toEqual([
			'/',
			'/developer',
			'/openapi.json',
			'https://www.standardwebhooks.com'
		]);
		for (const path of ['/', '/developer', '/openapi.json']) {
			expect((await fetch(server.url + path)).status, path).toBe(200);
		}
	});

	it('to a page of errors or endpoints that is not there is a 404', async () => {
		expect((await page(server.url, '/problems/no_such_code')).status).toBe(404);
		expect((await page(server.url, '/docs/endpoints/no-such-group')).status).toBe(404);
	});
});

describe('a page', () => {
	it('needs no script and asks no other host for anything', () => {
		for (const { path, text, fetched } of pages.values()) {
			expect(text.match(/<script[^>]*(src|type)=/g), path).toBeNull();
			expect(text, path).not.toContain('modulepreload');
			expect(text.match(/\sstyle="/), path).toBeNull();
			expect(
				fetched.filter((address) => !/^(\.{0,2}\/|data:|#)/.test(address)),
				path
			).toEqual([]);
		}
	});

	it('has one title, one first heading and no id twice', () => {
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

	it('is light: at most 12 KB on the way', async () => {
		for (const { path } of pages.values()) {
			const response = await fetch(server.url + path, { headers: { 'accept-encoding': 'gzip' } });
			await response.arrayBuffer();
			expect(Number(response.headers.get('content-length')), path).toBeLessThan(12 * 1024);
		}
	});
});

describe('the reference has', () => {
	it('every operation with its parameters, fields, role, scope, answers and both examples', () => {
		const missing: string[] = [];
		const list = plain(get('/docs/endpoints').text);
		for (const path of names('paths')) {
			for (const method of names('paths', path)) {
				const operation = asJson(at(document, 'paths', path, method));
				const id = String(operation['operationId'])
					.replace(/([a-z])([A-Z])/g, '$1-$2')
					.toLowerCase();
				const home = [...pages.values()].find(
					({ ids, path: one }) => ids.has(id) && one.startsWith('/docs/e')
				);
				const section = home?.text.split(`id="${id}"`)[1]?.split('</section>')[0] ?? '';
				const said = plain(section);
				const parameters = (operation['parameters'] ?? []) as Record<string, string>[];
				const body = at(operation, 'requestBody', 'content', 'application/json', 'schema', '$ref');
				const fields = typeof body === 'string' ? names(...body.slice(2).split('/'), 'properties') : [];
				const wanted = [
					method.toUpperCase(),
					`/v1${path}`,
					operation['summary'],
					operation['x-role'],
					operation['x-scope'],
					...parameters.map(
						({ name, $ref }) => name ?? $ref?.split('/').at(-1)?.replace('IdempotencyK', 'Idempotency-K')
					),
					...fields,
					...names('paths', path, method, 'responses')
				].map(String);
				for (const text of wanted) if (!said.includes(text)) missing.push(`${id}: ${text}`);
				for (const code of home ? [...home.code.keys()] : []) expect(code).not.toBe('');
				if (!home?.code.has(`curl ${id}`) || !home.code.has(`typescript ${id}`)) missing.push(`${id}: code`);
				if (!list.includes(`/v1${path}`) || !list.includes(String(operation['summary'])))
					missing.push(`${id}: list`);
			}
		}
		expect(missing).toEqual([]);
	});

	it('every example of a body, word for word', () => {
		const text = everything();
		const missing: string[] = [];
		const look = (value: unknown, where: string): void => {
			if (typeof value !== 'object' || value === null) return;
			for (const [name, example] of Object.entries(asJson(asJson(value)['examples']))) {
				const shown = JSON.stringify(asJson(example)['value'], null, 2);
				// Bodies of requests stand in the calls.
				if (
					!where.endsWith('requestBody/content/application~json') &&
					!text.includes(shown) &&
					!/Problem|[45]\d\d/.test(where)
				)
					missing.push(`${where} ${name}`);
			}
			for (const [name, part] of Object.entries(value)) {
				if (name !== 'examples') look(part, `${where}/${name.replaceAll('/', '~')}`);
			}
		};
		look(document['paths'], 'paths');
		look(document['webhooks'], 'webhooks');
		expect(missing).toEqual([]);
	});

	it('every field of every object, at one place', () => {
		const missing: string[] = [];
		for (const name of names('components', 'schemas')) {
			const fields = names('components', 'schemas', name, 'properties');
			// What is sent stands at its operation; the envelope of events in the text.
			if (fields.length === 0 || /(Creation|Start|Update|Registration|Event)$/.test(name)) continue;
			const id = `object-${name.replace(/([a-z])([A-Z])/g, '$1-$2').toLowerCase()}`;
			const homes = [...pages.values()].filter(({ ids }) => ids.has(id));
			if (homes.length !== 1) missing.push(`${name}: ${homes.length} places`);
			const said = plain(homes[0]?.text.split(`id="${id}"`)[1]?.split('</section>')[0] ?? '');
			for (const field of fields) if (!said.includes(field)) missing.push(`${name}.${field}`);
		}
		expect(missing).toEqual([]);
	});

	it('every error code: in the catalogue, and with an entry of its own that says what to do', () => {
		expect(codes().length).toBeGreaterThan(30);
		const catalogue = get('/docs/errors');
		for (const code of codes()) {
			expect(catalogue.links, code).toContain(`/problems/${code}`);
			expect(catalogue.ids, code).toContain(code);
			const { text } = get(`/problems/${code}`);
			expect(plain(text), code).toContain(`"code": "${code}"`);
			const advice = /id="advice".*?<p>(.*?)<\/p>/s.exec(text)?.[1] ?? '';
			expect(plain(advice).length, code).toBeGreaterThan(12);
			expect(text, code).toMatch(/href="\/docs\/endpoints/);
		}
	});

	it('the codes of single values', () => {
		const items = at(document, 'components', 'schemas', 'ProblemItem', 'properties', 'code', 'enum');
		expect(items).toHaveLength(7);
		for (const code of items as string[]) {
			expect(get('/docs/errors').ids).toContain(`item-${code}`);
			expect(get('/problems/validation_failed').ids).toContain(`item-${code}`);
		}
	});

	it('every event with its body', () => {
		expect(names('webhooks')).toContain('session.expired');
		const { text, ids, code } = get('/docs/webhooks');
		for (const name of names('webhooks')) {
			expect(ids, name).toContain(name.replace('.', '-'));
			expect(plain(text)).toContain(name);
			expect(JSON.parse(code.get(`event ${name}`) ?? '{}'), name).toMatchObject({ type: name });
		}
	});

	it.each([
		['session', 'SessionStatus'],
		['payment', 'PaymentStatus']
	])('every state of a %s in its picture and in its list', (machine, schema) => {
		const states = at(document, 'components', 'schemas', schema, 'enum') as string[];
		const { text, ids } = get('/docs/states');
		const picture = text
			.split('<svg')
			.find((part) => part.includes(`id="${machine}-title"`))
			?.split('</svg>')[0];
		expect(states.length).toBeGreaterThan(5);
		for (const state of states) {
			expect(picture, state).toContain(`>${state}</text>`);
			expect(ids, state).toContain(`${machine}-${state}`);
		}
	});

	it('the numbers of this installation', () => {
		const text = plain(get('/docs/limits').text);
		expect(text).toMatch(/123\s+in any 60 seconds/);
		expect(text).toMatch(/456\s+in any 60 seconds/);
		const states = plain(get('/docs/states').text);
		expect(states).toMatch(/less often, until\s+2 days after its start/);
		expect(states).toMatch(/failed,\s+until\s+1 day after it/);
		expect(get('/docs').code.get('base-url')).toBe(`${server.url}/v1`);
	});

	it('the test numbers of a sandbox, and the word for it', () => {
		const text = plain(get('/docs').text);
		expect(text).toContain('sandbox');
		for (const digits of ['001', '002', '003', '004', '005', '006', '007', '008', '009']) {
			expect(text).toContain(digits);
		}
	});

	it('nothing that is deprecated', () => {
		expect(plain(get('/docs/deprecations').text)).toContain('Nothing is deprecated');
	});
});

it('a live installation says that money is real, and has no test numbers', async () => {
	const live = await startServer({
		env: { AIRTILL_MODE: 'live', AIRTILL_SECRET: SECRET, ORIGIN: 'https://wifi.example.org' }
	});
	const { text, code, ids } = await page(live.url, '/docs').finally(() => live.stop());
	expect(plain(text)).toContain('payments are real money');
	expect(plain(text)).not.toContain('This is a sandbox');
	expect(ids).not.toContain('test-numbers');
	expect(code.get('base-url')).toBe('https://wifi.example.org/v1');
	expect(code.get('story curl 1')).toContain('https://wifi.example.org/v1/routers');
});

it('the buyer’s pages do not lead to the reference', async () => {
	for (const path of ['/', '/r/3']) {
		expect((await page(server.url, path)).links.filter((link) => OWN.test(link))).toEqual([]);
	}
});
