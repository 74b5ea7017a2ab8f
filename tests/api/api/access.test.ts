/** 401, 403 and 500 do not depend on what an endpoint does: every endpoint is called. */
import { beforeAll, describe, expect, it } from 'vitest';
import { generateKey } from '#lib/server/developer/api-keys.ts';
import { SCOPES, type Role } from '#lib/server/contract/scopes.ts';
import { ROUTES } from '../../support/api/routes.ts';
import { createApi, orderOf, type Payment, type Session } from '../../support/api/api.ts';
import { demoKey, recorded, useFixture } from '../../support/server/fixture.ts';

interface Call {
	path: string;
	scope: (typeof SCOPES)[number];
	/** Least role that may call it; app when left out. */
	role?: Role;
	/** Required by the endpoint. */
	table: string;
	body?: object;
}

const ROLES = ['app', 'owner', 'admin'] as const satisfies readonly Role[];

const fixture = useFixture({ database: 'sqlite' });
let session: Session;
let payment: Payment;

beforeAll(async () => ({ session, payment } = await fixture().buy()));

type Scope = Call['scope'];
/** @param table that the endpoint needs @param more the least role, if it is not app, and the body */
const call = (path: string, scope: Scope, table: string, more: Pick<Call, 'role' | 'body'> = {}): Call => ({
	...{ path: `/v1${path}`, scope, table, ...more }
});
const owner = { role: 'owner' } as const;

/** One valid call of each endpoint, by its route. */
const calls: Record<string, () => Call> = {
	'GET /routers': () => call('/routers?lat=0.3476&lon=32.5825', 'routers:read', 'routers'),
	'GET /routers/{id}': () => call('/routers/1', 'routers:read', 'routers'),
	'GET /sessions': () => call('/sessions', 'sessions:read', 'sessions'),
	'GET /payments': () => call('/payments', 'payments:read', 'payments'),
	'GET /events': () => call('/events', 'events:read', 'events'),
	'POST /sessions': () => call('/sessions', 'sessions:write', 'routers', { body: orderOf() }),
	'GET /sessions/{id}': () => call(`/sessions/${session.id}`, 'sessions:read', 'sessions'),
	'DELETE /sessions/{id}': () => call(`/sessions/${session.id}`, 'sessions:write', 'sessions'),
	'POST /payments/mobile-money': () =>
		call('/payments/mobile-money', 'payments:write', 'sessions', {
			body: { amount: session.amount, phone: session.phone, session_id: session.id }
		}),
	'GET /payments/{id}/status': () => call(`/payments/${payment.id}/status`, 'payments:read', 'payments'),
	'GET /owner/earnings': () => call('/owner/earnings', 'owner:read', 'book_entries', owner),
	'GET /owner/users': () => call('/owner/users', 'owner:read', 'sessions', owner),
	'PUT /owner/routers/{id}/price': () =>
		call('/owner/routers/1/price', 'owner:write', 'routers', { ...owner, body: { price: 700 } }),
	// Of nobody: a stranger gets 404.
	'GET /owner/routers/{id}/offers': () =>
		call('/owner/routers/999999/offers', 'owner:read', 'routers', owner),
	'PUT /owner/routers/{id}/offers': () =>
		call('/owner/routers/1/offers', 'owner:write', 'routers', {
			...owner,
			body: { offers: [{ name: 'Day', duration: '1d', price: 1000 }] }
		}),
	'POST /vouchers/redeem': () =>
		call('/vouchers/redeem', 'sessions:write', 'vouchers', { body: { code: 'ZZZZ-ZZZZ-ZZZZ' } }),
	'GET /owner/voucher-batches': () => call('/owner/voucher-batches', 'owner:read', 'voucher_batches', owner),
	'POST /owner/voucher-batches': () =>
		call('/owner/voucher-batches', 'owner:write', 'routers', {
			...owner,
			body: { router_id: 1, offer_id: 1, count: 1 }
		}),
	'GET /owner/voucher-batches/{id}/vouchers': () =>
		call('/owner/voucher-batches/999999/vouchers', 'owner:read', 'voucher_batches', owner),
	'GET /webhooks': () => call('/webhooks', 'webhooks:read', 'webhook_endpoints'),
	'DELETE /webhooks/{id}': () => call('/webhooks/999999', 'webhooks:write', 'webhook_endpoints'),
	'POST /webhooks/register': () =>
		call('/webhooks/register', 'webhooks:write', 'webhook_endpoints', {
			body: { url: 'https://app.example.com/hooks', events: ['payment.success'] }
		})
};

it('every route of the contract is called here, with its role and scope', () => {
	const called = Object.entries(calls).map(([name, call]) => {
		const { role = 'app', scope } = call();
		return `${name} ${role} ${scope}`;
	});
	const routes = ROUTES.map(({ method, path, role, scope }) => `${method} ${path} ${role} ${scope}`);
	expect(called.sort()).toEqual(routes.sort());
});

describe.each(Object.entries(calls))('%s', (route, callOf) => {
	const call = () => {
		const { body, ...rest } = callOf();
		return { method: route.split(' ')[0] ?? '', request: body ? { body } : {}, ...rest };
	};

	it('401 missing_api_key without a key, or with another scheme', async () => {
		const { method, path, request } = call();
		const before = await recorded(fixture());
		await fixture().nobody.refused('401 missing_api_key', method, path, request);
		for (const authorization of ['Basic YTpi', 'Bearer', 'Bearer ', demoKey(fixture().server, 'app')]) {
			await fixture().nobody.refused('401 missing_api_key', method, path, {
				...request,
				headers: { authorization }
			});
		}
		expect(await recorded(fixture())).toEqual(before);
	});

	it('401 invalid_api_key for a key that is malformed, unknown, revoked, expired or of live mode', async () => {
		const { method, path, request } = call();
		const { newKey, server } = fixture();
		const before = await recorded(fixture());
		const good = demoKey(server, 'app');
		const typo = good.slice(0, -1) + (good.endsWith('x') ? 'y' : 'x');
		const { key: revoked } = await newKey({ revokedAt: Date.now() - 1000 });
		const { key: expired } = await newKey({ expiresAt: Date.now() - 1000 });
		const { key: live } = await newKey({ mode: 'live' });
		for (const key of [typo, `${good} x`, `${good},${good}`, generateKey('test'), revoked, expired, live]) {
			await createApi(server.url, key).refused('401 invalid_api_key', method, path, request);
		}
		expect(await recorded(fixture())).toEqual(before);
	});

	it('403 account_suspended', async () => {
		const { method, path, role = 'app', request } = call();
		const before = await recorded(fixture());
		const { api } = await fixture().newKey({ role, status: 'suspended' });
		await api.refused('403 account_suspended', method, path, request);
		expect(await recorded(fixture())).toEqual(before);
	});

	it('403 insufficient_scope for a key narrowed to all other scopes, naming the one it lacks', async () => {
		const { method, path, scope, role = 'app', request } = call();
		const before = await recorded(fixture());
		const { api } = await fixture().newKey({ role, scopes: SCOPES.filter((other) => other !== scope) });
		const problem = await api.refused('403 insufficient_scope', method, path, request);
		expect(problem.required_scope).toBe(scope);
		expect(await recorded(fixture())).toEqual(before);
	});

	it('lets a key pass that is narrowed to its scope', async () => {
		const { method, path, scope, role = 'app' } = call();
		const { api } = await fixture().newKey({ role, scopes: [scope] });
		// Without its body, and of a stranger: what comes after the key decides.
		const { status } = await api.send(method, path);
		expect([200, 400, 404]).toContain(status);
	});

	it.each(ROLES)(
		'takes a key with the role %s if that suffices, else 403 owner_role_required',
		async (role) => {
			const { method, path, role: least = 'app', request } = call();
			const { api } = await fixture().newKey({ role });
			if (ROLES.indexOf(role) >= ROLES.indexOf(least)) {
				// Without its body, and of a stranger: what comes after the role decides.
				const { status } = await api.send(method, path);
				expect([200, 400, 404]).toContain(status);
			} else {
				const before = await recorded(fixture());
				await api.refused('403 owner_role_required', method, path, request);
				expect(await recorded(fixture())).toEqual(before);
			}
		}
	);

	it('500 internal_error, without internals, when the database fails', async () => {
		const { method, path, role = 'app', table, request } = call();
		const { sql } = fixture();
		const { api } = role === 'app' ? fixture() : await fixture().newKey({ role });
		// The keys' own table stays, and the caller is known from before.
		await api.getRouter(1);
		await sql.run(`alter table ${table} rename to ${table}_gone`);
		try {
			const problem = await api.refused('500 internal_error', method, path, request);
			expect(problem.detail).not.toMatch(/select|table|relation|sqlite|postgres|gone/i);
		} finally {
			await sql.run(`alter table ${table}_gone rename to ${table}`);
		}
	});
});

it('takes the scheme in any case', async () => {
	const key = demoKey(fixture().server, 'app');
	for (const authorization of [`bearer ${key}`, `BEARER ${key}`, `Bearer   ${key}`]) {
		const { status } = await fixture().nobody.send('GET', '/v1/routers/1', { headers: { authorization } });
		expect(status).toBe(200);
	}
});

it('reads no key from the query or the body', async () => {
	const key = demoKey(fixture().server, 'app');
	const { nobody } = fixture();
	await nobody.refused('401 missing_api_key', 'GET', `/v1/routers/1?api_key=${key}&authorization=${key}`);
	await nobody.refused('401 missing_api_key', 'POST', '/v1/sessions', { body: { api_key: key } });
});

it('refuses a revoked key within five seconds', async () => {
	const { newKey, server, sql } = fixture();
	const { accountId, api } = await newKey();
	await api.getRouter(1);
	await sql.run('update api_keys set revoked_at = ? where account_id = ?', Date.now(), accountId);
	await server.advance(5_000);
	await api.refused('401 invalid_api_key', 'GET', '/v1/routers/1');
});

it('a key notes when it was used last, at most once a minute', async () => {
	const { newKey, server, sql } = fixture();
	const { accountId, api } = await newKey();
	const lastUse = () => sql.count('select last_used_at from api_keys where account_id = ?', accountId);
	const started = server.now();
	await api.getRouter(1);
	const first = await lastUse();
	expect(first).toBeGreaterThanOrEqual(started);
	expect(first).toBeLessThanOrEqual(server.now());
	await server.advance(50_000);
	await api.getRouter(1);
	expect(await lastUse()).toBe(first);
	await server.advance(10_000);
	await api.getRouter(1);
	expect(await lastUse()).toBeGreaterThanOrEqual(first + 60_000);
});

it('answers a header of 15,000 blanks as fast as any other', async () => {
	const quickest = async (blanks: number) => {
		const headers = { authorization: `Bearer a${' '.repeat(blanks)}a` };
		const times: number[] = [];
		for (let round = 0; round < 5; round += 1) {
			const started = performance.now();
			await fixture().nobody.refused('401 invalid_api_key', 'GET', '/v1/routers/1', { headers });
			times.push(performance.now() - started);
		}
		return Math.min(...times);
	};
	// It was 160 ms more when the time was quadratic.
	const usual = await quickest(1);
	expect(await quickest(15_000)).toBeLessThan(2 * usual + 100);
});

it('stores no key, only its hash and a hint', async () => {
	const key = demoKey(fixture().server, 'app');
	const rows = await fixture().sql.all('select * from api_keys');
	expect(rows.length).toBeGreaterThan(3);
	expect(JSON.stringify(rows)).not.toContain(key);
	expect(JSON.stringify(rows)).toContain(`${key.slice(0, 9)}…${key.slice(-4)}`);
});
