/** A route that is on its way out, called through the API with real services. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApp, type App } from '#lib/server/app.ts';
import { loadConfig } from '#lib/server/config/config.ts';
import { createApi } from '#lib/server/api/api.ts';
import { endpoint } from '#lib/server/api/call.ts';
import { type Route, defineRoute } from '#lib/server/api/route.ts';
import { listRouters } from '#lib/server/api/routers.ts';
import { createKey } from '#lib/server/developer/api-keys.ts';
import { createAccount } from '#lib/server/accounts/accounts.ts';

const origin = 'http://airtill.example';
const retired = defineRoute({
	...listRouters,
	deprecation: { since: '2027-01-01T00:00:00Z', sunset: '2028-01-01T00:00:00Z', successor: '/v2/routers' }
});

let now = Date.parse('2027-06-01T12:00:00Z');
let folder: string;
let app: App;
let key: string;

beforeAll(async () => {
	folder = mkdtempSync(path.join(tmpdir(), 'airtill-deprecation-'));
	const config = loadConfig({ DATABASE_URL: `file:${folder}/a.db`, DATA_DIR: folder });
	app = await createApp(config, { clock: { now: () => now } });
	const account = await createAccount(app, { email: 'a@tests.invalid', role: 'app', plan: 'default' });
	if (!account) throw new Error('No account was made');
	key = await createKey(app.apiKeys, { accountId: account.id, name: 'test', role: 'app' });
});

afterAll(async () => {
	await app.stop();
	rmSync(folder, { recursive: true, force: true });
});

async function call(
	route: Route,
	query = '?lat=0&lon=0'
): Promise<{ status: number; headers: Headers; body: unknown }> {
	const url = `${origin}/v1/routers${query}`;
	const retiring = endpoint(route, async () => ({
		body: { data: [] },
		headers: { link: `<${url}>; rel="next"` }
	}));
	const api = createApi(app, () => null, [retiring]);
	const response = await api.fetch(new Request(url, { headers: { authorization: `Bearer ${key}` } }), {});
	return { status: response.status, headers: response.headers, body: await response.json() };
}

describe('a deprecated endpoint', () => {
	it('says since when, until when, why and what replaces it, beside its other links', async () => {
		const { status, headers } = await call(retired);
		expect(status).toBe(200);
		expect(headers.get('deprecation')).toBe('@1798761600');
		expect(headers.get('sunset')).toBe('Sat, 01 Jan 2028 00:00:00 GMT');
		expect(headers.get('link')?.split(', ')).toEqual([
			`<${origin}/v1/routers?lat=0&lon=0>; rel="next"`,
			`<${origin}/docs/deprecations>; rel="deprecation"`,
			'</v2/routers>; rel="successor-version"'
		]);
	});

	it('says so in its errors too', async () => {
		const { status, headers } = await call(retired, '');
		expect(status).toBe(400);
		expect(headers.get('sunset')).toBe('Sat, 01 Jan 2028 00:00:00 GMT');
	});

	it('is an unknown route from its sunset on', async () => {
		now = Date.parse('2027-12-31T23:59:59.999Z');
		expect((await call(retired)).status).toBe(200);
		now = Date.parse('2028-01-01T00:00:00Z');
		const gone = await call(retired);
		expect(gone.status).toBe(404);
		expect(gone.body).toMatchObject({ code: 'route_not_found' });
		expect(gone.headers.has('sunset')).toBe(false);
	});
});

it('an endpoint that is not deprecated says nothing of it', async () => {
	const { headers } = await call(listRouters);
	expect([headers.get('deprecation'), headers.get('sunset')]).toEqual([null, null]);
	expect(headers.get('link')).not.toContain('deprecation');
});
