/** 401, 403 and 500 do not depend on what an endpoint does: every endpoint is called. */
import { beforeAll, describe, expect, it } from 'vitest';
import { generateKey } from '#lib/server/developer/api-keys.ts';
import { SCOPES, type Role } from '#lib/server/contract/scopes.ts';
import { ROUTES } from '../../support/api/routes.ts';
import { createApi, orderOf, type Payment, type Request, type Session } from '../../support/api/api.ts';
import { demoKey, recorded, useFixture } from '../../support/server/fixture.ts';

interface Call {
	method: string;
	path: string;
	scope: (typeof SCOPES)[number];
	/** Least role that may call it; app when left out. */
	role?: Role;
	/** Required by the endpoint. */
	table: string;
	request?: Request;
}

const ROLES = ['app', 'owner', 'admin'] as const satisfies readonly Role[];

const fixture = useFixture({ database: 'sqlite' });
let session: Session;
let payment: Payment;

beforeAll(async () => ({ session, payment } = await fixture().buy()));

/** One valid call of each endpoint. */
const calls: Record<string, () => Call> = {
	'GET /routers': () => ({
		method: 'GET',
		path: '/v1/routers?lat=0.3476&lon=32.5825',
		scope: 'routers:read',
		table: 'routers'
	}),
	'GET /routers/{id}': () => ({
		method: 'GET',
		path: '/v1/routers/1',
		scope: 'routers:read',
		table: 'routers'
	}),
	'GET /sessions': () => ({ method: 'GET', path: '/v1/sessions', scope: 'sessions:read', table: 'sessions' }),
	'GET /payments': () => ({ method: 'GET', path: '/v1/payments', scope: 'payments:read', table: 'payments' }),
	'GET /events': () => ({ method: 'GET', path: '/v1/events', scope: 'events:read', table: 'events' }),
	'POST /sessions': () => ({
		method: 'POST',
		path: '/v1/sessions',
		scope: 'sessions:write',
		table: 'routers',
		request: { body: orderOf() }
	}),
	'GET /sessions/{id}': () => ({
		method: 'GET',
		path: `/v1/sessions/${session.id}`,
		scope: 'sessions:read',
		table: 'sessions'
	}),
	'DELETE /sessions/{id}': () => ({
		method: 'DELETE',
		path: `/v1/sessions/${session.id}`,
		scope: 'sessions:write',
		table: 'sessions'
	}),
	'POST /payments/mobile-money': () => ({
		method: 'POST',
		path: '/v1/payments/mobile-money',
		scope: 'payments:write',
		table: 'sessions',
		request: { body: { amount: session.amount, phone: session.phone, session_id: session.id } }
	}),
	'GET /payments/{id}/status': () => ({
		method: 'GET',
		path: `/v1/payments/${payment.id}/status`,
		scope: 'payments:read',
		table: 'payments'
	}),
	'GET /owner/earnings': () => ({
		method: 'GET',
		path: '/v1/owner/earnings',
		scope: 'owner:read',
		role: 'owner',
		table: 'payments'
	}),
	'GET /owner/users': () => ({
		method: 'GET',
		path: '/v1/owner/users',
		scope: 'owner:read',
		role: 'owner',
		table: 'sessions'
	}),
	'PUT /owner/routers/{id}/price': () => ({
		method: 'PUT',
		path: '/v1/owner/routers/1/price',
		scope: 'owner:write',
		role: 'owner',
		table: 'routers',
		request: { body: { price: 700 } }
	}),
	'GET /owner/routers/{id}/offers': () => ({
		method: 'GET',
		// Of nobody: a stranger gets 404.
		path: '/v1/owner/routers/999999/offers',
		scope: 'owner:read',
		role: 'owner',
		table: 'routers'
	}),
	'PUT /owner/routers/{id}/offers': () => ({
		method: 'PUT',
		path: '/v1/owner/routers/1/offers',
		scope: 'owner:write',
		role: 'owner',
		table: 'routers',
		request: { body: { offers: [{ name: 'Day', duration: '1d', price: 1000 }] } }
	}),
	'GET /webhooks': () => ({
		method: 'GET',
		path: '/v1/webhooks',
		scope: 'webhooks:read',
		table: 'webhook_endpoints'
	}),
	'DELETE /webhooks/{id}': () => ({
		method: 'DELETE',
		path: '/v1/webhooks/999999',
		scope: 'webhooks:write',
		table: 'webhook_endpoints'
	}),
	'POST /webhooks/register': () => ({
		method: 'POST',
		path: '/v1/webhooks/register',
		scope: 'webhooks:write',
		table: 'webhook_endpoints',
		request: { body: { url: 'https://app.example.com/hooks', events: ['payment.success'] } }
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

describe.each(Object.entries(calls))('%s', (_name, call) => {
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
