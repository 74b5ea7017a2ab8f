/** `routers add`, `set`, `disable` and `enable`: one router from the command line, recorded with name and reason. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loginUser } from '../../../../src/lib/domain/wifi/pass-username.ts';
import { createApi } from '../../../support/api/api.ts';
import { registerRadius } from '../../../support/gateways/gateways.ts';
import { radiusCalls } from '../../../support/gateways/radius-calls.ts';
import { browse } from '../../../support/pages/browsing.ts';
import { buyAt, numberEnding, untilTitled } from '../../../support/pages/purchase.ts';
import { DATABASES, eventually, useFixture } from '../../../support/server/fixture.ts';
import { cli } from '../../../support/server/cli.ts';
import { GOOD, HEADER, MAP } from './place.ts';

const WHY = ['--by', 'Ada', '--note', 'asked by the owner'];
const MAC = '02:00:00:00:05:01';

const fixture = useFixture({ database: DATABASES[0] });
const run = (...args: string[]) => cli(['routers', ...args], fixture().server);
const rowOf = async (id: number) => (await fixture().sql.all('select * from routers where id = ?', id))[0];
const lastEntry = async () => {
	const [entry] = await fixture().sql.all(
		"select * from audit_log where action like 'router.%' order by id desc limit 1"
	);
	const { actor, action, reason, before, after } = entry ?? {};
	return { actor, action, reason, before: JSON.parse(String(before)), after: JSON.parse(String(after)) };
};

const PLACE = ['--ssid', 'Net', '--lat', '0.31', '--lon=-32.58', '--price', '500'];

async function added(...more: string[]): Promise<number> {
	const { code, stdout, stderr } = await run('add', ...PLACE, ...more, ...WHY);
	expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
	return Number(/^Router (\d+) /.exec(stdout)?.[1]);
}

describe('routers add', () => {
	it('adds a router as an import does, and records who did it and why', async () => {
		const id = await added('--name', 'Bukoto', '--security', 'nopass');
		const { owner_account_id: owner } = (await rowOf(3)) ?? {};
		expect(await rowOf(id)).toMatchObject({
			...{ name: 'Bukoto', ssid: 'Net', lat: 0.31, lon: -32.58, price_minor: 500, currency: 'UGX' },
			...{ security: 'nopass', access_kind: 'portal_login', status: 'online', owner_account_id: owner },
			...{ payment_methods: '["mtn_momo","airtel_money"]', min_duration: '15m', max_duration: '6h' }
		});
		expect(await lastEntry()).toMatchObject({
			...{ actor: 'Ada', action: 'router.added', reason: WHY[3], before: {} },
			after: { router_id: id, price_minor: 500 }
		});
		expect(await fixture().api.getRouter(id)).toMatchObject({ name: 'Bukoto', price: 500 });
	});

	it('names every wrong field, and adds nothing', async () => {
		const before = await fixture().sql.count('select count(*) from routers');
		const { code, stderr } = await run('add', '--ssid', '', '--lat', 'north', '--price', '0.5', ...WHY);
		expect(code).toBe(1);
		expect(stderr.trimEnd().split('\n')).toEqual([
			'ssid: no SSID',
			'lat: no position: latitude "north" is not a number',
			'lon: no position: longitude is missing',
			expect.stringMatching(/^price: price "0\.5": a price in UGX is a number above 0, at most \d+/)
		]);
		expect((await run('add', ...PLACE, '--by', 'Ada')).stderr).toContain('--note is missing');
		expect(await fixture().sql.count('select count(*) from routers')).toBe(before);
	});
});

describe('routers set', () => {
	it('changes the given fields only, records both values, and leaves orders as they were agreed', async () => {
		const { api } = fixture();
		const id = await added();
		const before = await rowOf(id);
		const order = await api.createSession({ router_id: id });
		expect((await run('set', String(id), '--price', '900', '--name', 'New name', ...WHY)).code).toBe(0);
		const changed = { price_minor: 900, name: 'New name' };
		expect(await rowOf(id)).toEqual({ ...before, ...changed, updated_at: expect.any(Number) });
		expect(await lastEntry()).toEqual({
			...{ actor: 'Ada', action: 'router.changed', reason: WHY[3] },
			before: { router_id: id, price_minor: 500, name: 'Net' },
			after: { router_id: id, ...changed }
		});
		expect(await fixture().sql.all('select * from price_changes where router_id = ?', id)).toMatchObject([
			{ old_price_minor: 500, new_price_minor: 900, currency: 'UGX', account_id: null, api_key_id: null }
		]);
		expect(await api.pay(order)).toMatchObject({ amount: 500 });
	});

	it('refuses wrong values by field, and changes nothing', async () => {
		const id = await added();
		const before = await rowOf(id);
		const fields = ['--price', '9999999', '--lat', '91', '--name', '', '--status', 'up'];
		const wrong = await run('set', String(id), ...fields, ...WHY);
		expect(wrong.code).toBe(1);
		expect(wrong.stderr.match(/^\w+(?=: )/gm)).toEqual(['lat', 'price', 'status', 'name']);
		const open = await run('set', String(id), '--security', 'nopass', ...WHY);
		expect(open.stderr).toContain(`first run "routers access ${id} --kind portal_login"`);
		expect(await run('set', String(id), ...WHY)).toMatchObject({ code: 2 });
		expect(await run('set', '999999', '--price', '1', ...WHY)).toMatchObject({ code: 1 });
		expect(await rowOf(id)).toEqual(before);
	});
});

describe('routers disable', () => {
	it('stops sales; running time and paid money go on; enable sells again', async () => {
		const { api, server, sql } = fixture();
		const id = await added();
		const at = { kind: 'mikrotik', access: 'portal_login', router: id } as const;
		const gateway = await registerRadius(fixture(), at);
		const page = await buyAt(server.url, `/r/${id}`, numberEnding('008'));
		await untilTitled(server.url, page, /paid/i);
		const passId = await sql.count('select max(id) from passes');
		// Its operator is down for 30 seconds.
		const onItsWay = await api.createSession({ router_id: id, phone: numberEnding('006') });
		const payment = await api.pay(onItsWay);
		const unpaid = await api.createSession({ router_id: id });

		expect((await run('disable', String(id), ...WHY)).code).toBe(0);
		expect(await lastEntry()).toMatchObject({ actor: 'Ada', action: 'router.disabled', reason: WHY[3] });
		await api.refused('404 router_not_found', 'POST', '/v1/sessions', {
			body: { ...onItsWayOrder(id), phone: numberEnding('123') }
		});
		const pay = { session_id: unpaid.id, amount: unpaid.amount, phone: unpaid.phone };
		await api.refused('400 router_unavailable', 'POST', '/v1/payments/mobile-money', { body: pay });
		await fixture().other.refused('404 router_not_found', 'GET', `/v1/routers/${id}`);
		expect(await api.getRouter(id)).toMatchObject({ status: 'offline', status_reason: 'closed' });

		await server.advance(60_000);
		expect(await api.getPayment(payment.id, 20)).toMatchObject({ status: 'success', applied: true });
		expect(await api.getSession(onItsWay.id)).toMatchObject({ status: 'active' });
		const login = await radiusCalls(server.url, gateway).authorize(loginUser(passId), MAC);
		expect(login.status).toBe(200);
		const person = browse(server.url);
		expect((await person.get(page)).text).toMatch(/paid until/i);
		const splash = await person.post(`/splash/${gateway.key}`, {
			...{ mac: MAC, ip: '10.5.50.9', 'link-login-only': 'http://10.5.50.1/login' }
		});
		expect(splash.html).not.toContain('name="phone"');
		expect(splash.html).toContain('/resume?visit=');

		expect((await run('enable', String(id), ...WHY)).code).toBe(0);
		expect(await lastEntry()).toMatchObject({ action: 'router.enabled' });
		expect(await api.createSession({ router_id: id })).toMatchObject({ status: 'pending_payment' });
	});
});

describe('routers import and keys create', () => {
	it('a key opens the API until it is revoked, and imported routers are for sale', async () => {
		const { server } = fixture();
		await cli(['accounts', 'create', '--email', 'app2@cli.example', '--role', 'app'], server);
		const { stdout } = await cli(['keys', 'create', '--account', 'app2@cli.example'], server);
		const api = createApi(server.url, stdout.trim());
		const file = path.join(server.dataDir, 'more.csv');
		writeFileSync(file, HEADER + GOOD);
		expect(await cli(['routers', 'import', file, ...MAP], server)).toMatchObject({ code: 0, stderr: '' });
		const { data } = await api.listRouters('lat=0.31&lon=32.58&radius=10');
		expect(data).toMatchObject([
			{
				name: 'Acacia',
				price: 500,
				payment_methods: ['mobile_money', 'mtn_momo', 'airtel_money', 'sandbox']
			}
		]);

		expect(await cli(['keys', 'revoke', stdout.trim()], server)).toMatchObject({ code: 0, stdout: '' });
		await server.advance(5_000);
		await eventually('the key is refused', async () => {
			const { status } = await api.send('GET', '/v1/routers?lat=0.31&lon=32.58');
			return status === 401;
		});
	});
});

const onItsWayOrder = (id: number) => ({ router_id: id, duration: '1h', payment_method: 'mobile_money' });
