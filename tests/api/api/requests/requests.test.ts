/** Rules for every request under /v1: paths, methods, and the order of errors. */
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { ROUTES } from '../../../support/api/routes.ts';
import { orderOf } from '../../../support/api/api.ts';
import { useFixture } from '../../../support/server/fixture.ts';

const kib = 1024;

/** [path, its methods, others] */
const WRONG_METHODS = [
	['/v1/routers', 'GET, HEAD', ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']],
	['/v1/routers/1', 'GET, HEAD', ['POST', 'PUT', 'PATCH', 'DELETE']],
	['/v1/sessions', 'POST, GET, HEAD', ['PUT', 'PATCH', 'DELETE']],
	['/v1/payments', 'GET, HEAD', ['POST', 'PUT', 'DELETE']],
	['/v1/events', 'GET, HEAD', ['POST', 'PUT', 'DELETE']],
	['/v1/sessions/1', 'GET, HEAD, DELETE', ['POST', 'PUT', 'PATCH']],
	['/v1/payments/mobile-money', 'POST', ['GET', 'PUT', 'DELETE']],
	['/v1/payments/1/status', 'GET, HEAD', ['POST', 'PUT', 'DELETE']],
	['/v1/owner/earnings', 'GET, HEAD', ['POST', 'PUT', 'DELETE']],
	['/v1/owner/users', 'GET, HEAD', ['POST', 'PUT', 'DELETE']],
	['/v1/webhooks', 'GET, HEAD', ['POST', 'PUT', 'DELETE']],
	['/v1/webhooks/1', 'DELETE', ['GET', 'POST', 'PUT']],
	['/v1/webhooks/register', 'POST', ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']],
	['/v1/owner/routers/1/price', 'PUT', ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE']],
	['/v1/owner/routers/1/offers', 'GET, HEAD, PUT', ['POST', 'PATCH', 'DELETE']],
	['/v1/vouchers/redeem', 'POST', ['GET', 'HEAD', 'PUT', 'DELETE']],
	['/v1/owner/voucher-batches', 'POST, GET, HEAD', ['PUT', 'PATCH', 'DELETE']],
	['/v1/owner/voucher-batches/1/vouchers', 'GET, HEAD', ['POST', 'PUT', 'DELETE']]
] as const;

const fixture = useFixture({ database: 'sqlite' });

describe('which error wins', () => {
	it('the key comes first: 401 for unknown paths, wrong methods, bad bodies and broken paths too', async () => {
		for (const [method, path] of [
			['GET', '/v1'],
			['GET', '/v1/'],
			['GET', '/v1/nothing'],
			['PATCH', '/v1/routers'],
			['POST', '/v1/routers/1'],
			['GET', '/v1/routers?lat=x'],
			['GET', '/v1/sessions/abc'],
			['GET', '/v1/routers/%E0%A4%A'],
			['GET', '/v1/routers/1/__data.json'],
			['OPTIONS', '/v1/routers']
		] as const) {
			await fixture().nobody.refused('401 missing_api_key', method, path);
		}
		await fixture().nobody.refused('401 missing_api_key', 'POST', '/v1/sessions', { body: '{' });
	});

	it('then the route: 404 for a suspended account and a bad body', async () => {
		const { api } = await fixture().newKey({ status: 'suspended' });
		await api.refused('404 route_not_found', 'GET', '/v1/nothing');
		await api.refused('404 route_not_found', 'POST', '/v1/routers', { body: '{' });
	});

	it('then account and scope: 403 before a bad body, path or query', async () => {
		const { api: suspended } = await fixture().newKey({ status: 'suspended' });
		const { api: narrow } = await fixture().newKey({ scopes: ['owner:read'] });
		for (const [method, path] of [
			['POST', '/v1/sessions'],
			['GET', '/v1/routers'],
			['GET', '/v1/sessions/abc']
		] as const) {
			const request = method === 'POST' ? { body: '{' } : {};
			await suspended.refused('403 account_suspended', method, path, request);
			await narrow.refused('403 insufficient_scope', method, path, request);
		}
	});

	it('then content type, size, JSON and fields, in that order', async () => {
		const { api } = fixture();
		const big = '{'.repeat(17 * kib);
		const text = { headers: { 'content-type': 'text/plain' }, body: big };
		await api.refused('400 unsupported_media_type', 'POST', '/v1/sessions', text);
		await api.refused('400 body_too_large', 'POST', '/v1/sessions', { body: big });
		await api.refused('400 invalid_json', 'POST', '/v1/sessions', { body: '{"router_id":"x"' });
		await api.refused('400 validation_failed', 'POST', '/v1/sessions', { body: { router_id: 'x' } });
		const { owner } = fixture();
		await owner.refused('400 invalid_json', 'PUT', '/v1/owner/routers/abc/price', { body: '{' });
		await owner.refused('400 validation_failed', 'PUT', '/v1/owner/routers/abc/price', { body: {} });
	});

	it('then the object: 404 after bad fields, but before the rules of the trade', async () => {
		const { api } = fixture();
		const absent = { session_id: 999_999, amount: 500, phone: '0414123456' };
		const payments = '/v1/payments/mobile-money';
		await api.refused('400 validation_failed', 'POST', payments, { body: { ...absent, amount: 0.5 } });
		await api.refused('404 session_not_found', 'POST', payments, { body: absent });
		const order = orderOf({ router_id: 999_999, duration: '40w', phone: '0414123456' });
		await api.refused('404 router_not_found', 'POST', '/v1/sessions', { body: order });
	});
});

describe('paths and methods', () => {
	it('404 route_not_found for a path that is not there', async () => {
		for (const path of [
			...['/v1', '/v1/', '/v1/nothing', '/v1/payments/1', '/v1/owner', '/v1/owner/routers/1'],
			...['/v1/routers%2F1']
		]) {
			const { headers } = await fixture().api.send('GET', path);
			expect(headers.get('allow'), path).toBeNull();
			await fixture().api.refused('404 route_not_found', 'GET', path);
		}
	});

	it.each(WRONG_METHODS)('404 with Allow for another method of %s', async (path, allow, methods) => {
		for (const method of methods) {
			const { status, headers } = await fixture().api.send(method, path);
			expect(`${method} ${status}`).toBe(`${method} 404`);
			expect(headers.get('allow')).toBe(allow);
		}
	});

	it('these are all paths of the contract, with all their methods', () => {
		const known = new Map<string, string[]>();
		for (const { method, path } of ROUTES) {
			const methods = known.get(path) ?? [];
			known.set(path, [...methods, ...(method === 'GET' ? ['GET', 'HEAD'] : [method])]);
		}
		const tried = WRONG_METHODS.map(([path, allow]) => `${path.replace('/1', '/{id}')} ${allow}`);
		const paths = [...known].map(([path, methods]) => `/v1${path} ${methods.join(', ')}`);
		expect(tried.sort()).toEqual(paths.sort());
	});

	it('serves paths with doubled slashes and with one at the end, without a redirect', async () => {
		const { api } = fixture();
		const { body } = await api.send('GET', '/v1/routers/1');
		for (const path of ['//v1/routers/1', '/v1//routers//1', '/v1/routers/1/', '///v1///routers/1//']) {
			expect(await api.send('GET', path)).toMatchObject({ status: 200, body });
		}
		const order = { body: orderOf() };
		expect(await api.send('POST', '/v1//sessions/', order)).toMatchObject({ status: 201 });
	});

	it('400 for malformed percent-encoding', async () => {
		for (const path of ['/v1/routers/%', '/v1/routers/%E0%A4%A', '/v1/%FF', '/v1/sessions/%zz']) {
			const problem = await fixture().api.refused('400 validation_failed', 'GET', path);
			expect(problem.errors).toMatchObject([{ in: 'path', code: 'invalid_format' }]);
		}
	});

	it('404 for what SvelteKit would answer itself', async () => {
		for (const path of ['/v1/__data.json', '/v1/routers/1/__data.json', '/v1/routers/1/__route.js']) {
			await fixture().api.refused('404 route_not_found', 'GET', path);
		}
	});

	it('TRACE, which the platform does not know, is a wrong method like any other', async () => {
		const { server } = fixture();
		const sent = request(`${server.url}/v1/routers`, { method: 'TRACE' }).end();
		const [answer]: IncomingMessage[] = await once(sent, 'response');
		answer?.resume();
		expect(answer?.statusCode).toBe(401);
		expect(answer?.headers['content-type']).toBe('application/problem+json');
		const { key } = await fixture().newKey();
		const headers = { authorization: `Bearer ${key}` };
		const known = request(`${server.url}/v1/routers`, { method: 'TRACE', headers }).end();
		const [refusal]: IncomingMessage[] = await once(known, 'response');
		if (!refusal) throw new Error('TRACE has no answer');
		expect(refusal.statusCode).toBe(404);
		expect(await json(refusal)).toMatchObject({
			code: 'route_not_found',
			detail: 'There is no TRACE /v1/routers.'
		});
	});

	it('ignores Accept, and knows no cross-origin requests', async () => {
		const headers = { accept: 'text/html', origin: 'https://elsewhere.example' };
		expect(await fixture().api.send('GET', '/v1/routers/1', { headers })).toMatchObject({ status: 200 });
		await fixture().api.refused('404 route_not_found', 'GET', '/v1/nothing', { headers });
		await fixture().api.refused('404 route_not_found', 'OPTIONS', '/v1/routers', { headers });
	});

	it.each([
		['https', 'https'],
		['https, http', 'https'],
		['HTTPS,http', 'https'],
		['http, https', 'http'],
		['http', 'http']
	])('links behind proxies that report %s begin with %s', async (reported, scheme) => {
		const headers = { 'x-forwarded-proto': reported };
		const { type } = await fixture().api.refused('404 route_not_found', 'GET', '/v1/nothing', { headers });
		expect(type).toMatch(new RegExp(`^${scheme}://`));
	});

	it('gives every answer its own request id', async () => {
		const ids = await Promise.all(
			Array.from({ length: 20 }, async () =>
				(await fixture().api.send('GET', '/v1/routers/1')).headers.get('x-request-id')
			)
		);
		expect(new Set(ids).size).toBe(20);
	});
});
