import { describe, expect, it } from 'vitest';
import { formatDocument } from '#lib/server/api/document.ts';
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
		const text = formatDocument(url, { currency: 'UGX', maxPrice: 1_000_000 });
		expect(await response.json()).toEqual(JSON.parse(text));
		expect(JSON.parse(text)).toMatchObject({ servers: [{ url: `${url}/v1` }] });
	});

	it('has the limits that the server holds', async () => {
		const { components } = (await (await get()).json()) as {
			components: { schemas: Record<string, { properties: Record<string, Record<string, unknown>> }> };
		};
		const of = (schema: string, property: string) => components.schemas[schema]?.properties[property];
		// MAX_PRICE of this installation.
		expect(of('PriceUpdate', 'price')).toMatchObject({ exclusiveMinimum: 0, maximum: 1_000_000 });
		expect(of('PaymentStart', 'amount')).toMatchObject({ exclusiveMinimum: 0, maximum: 1e12 });
		const { events, url } = components.schemas['WebhookRegistration']?.properties ?? {};
		expect(events).toMatchObject({ minItems: 1, maxItems: 20, uniqueItems: true });
		expect(url).toMatchObject({ maxLength: 2048, pattern: '^https?://' });
		expect(of('SessionCreation', 'phone')).toMatchObject({ minLength: 1, maxLength: 64 });
	});

	it('uses every component that it has', async () => {
		const text = await (await get()).text();
		const { components } = JSON.parse(text) as { components: Record<string, Record<string, unknown>> };
		const unused = Object.entries(components)
			.filter(([kind]) => kind !== 'securitySchemes')
			.flatMap(([kind, all]) => Object.keys(all).map((name) => `#/components/${kind}/${name}`))
			.filter((reference) => !text.includes(`"${reference}"`));
		expect(unused).toEqual([]);
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
