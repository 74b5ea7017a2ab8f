import { describe, expect, it } from 'vitest';
import { openApiDocument } from '../../../../src/lib/server/api/document/document.ts';
import { EXAMPLE_ORIGIN } from '../../../../src/lib/server/api/document/headers.ts';
import { useFixture } from '../../../support/server/fixture.ts';

describe('GET /openapi.json', () => {
	const fixture = useFixture({ database: 'sqlite' });
	const get = (headers: Record<string, string> = {}) =>
		fetch(`${fixture().server.url}/openapi.json`, { headers: { 'accept-encoding': 'identity', ...headers } });

	it('is the document of the contract with the address of this installation, and needs no key', async () => {
		const response = await get();
		expect(response.status).toBe(200);
		expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
		const { url } = fixture().server;
		const text = JSON.stringify(openApiDocument()).replaceAll(EXAMPLE_ORIGIN, url);
		expect(await response.json()).toEqual(JSON.parse(text));
		expect(JSON.parse(text)).toMatchObject({ servers: [{ url: `${url}/v1` }] });
	});

	it('is compressed for a client that accepts gzip', async () => {
		const [plain, packed] = [await get(), await get({ 'accept-encoding': 'gzip' })];
		expect(plain.headers.get('cache-control')).toBe('public, max-age=300');
		expect(packed.headers.get('content-encoding')).toBe('gzip');
		expect(plain.headers.has('content-encoding')).toBe(false);
		expect(await packed.text()).toBe(await plain.text());
	});

	it('has only patterns that the regular expressions of all languages know', async () => {
		const patterns: string[] = [];
		JSON.parse(await (await get()).text(), (name, value: unknown) => {
			if (name === 'pattern' && typeof value === 'string') patterns.push(value);
		});
		expect(patterns.length).toBeGreaterThan(10);
		// Go, Rust and Python lack lookarounds or classes of Unicode.
		expect(patterns.filter((pattern) => /\(\?|\\p\{/i.test(pattern))).toEqual([]);
	});

	it('can be read by tools of other sites', async () => {
		expect((await get({ origin: 'https://tools.example' })).headers.get('access-control-allow-origin')).toBe(
			'*'
		);
	});
});
