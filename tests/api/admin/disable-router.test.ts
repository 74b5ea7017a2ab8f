/** Routers at a running server: imported ones are for sale, a disabled one is not, while what is paid goes on. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { loginUser } from '#lib/domain/wifi.ts';
import { createApi } from '../../support/api/api.ts';
import { registerRadius } from '../../support/gateways/gateways.ts';
import { radiusCalls } from '../../support/gateways/radius-calls.ts';
import { changeRouter } from '../../support/pages/administrator.ts';
import { browse } from '../../support/pages/browsing.ts';
import { addRouter } from '../../support/pages/owners.ts';
import { buyAt, numberEnding, untilTitled } from '../../support/pages/purchase.ts';
import { cli } from '../../support/server/cli.ts';
import { DATABASES, useFixture } from '../../support/server/fixture.ts';
import { GOOD, HEADER, MAP } from '../operations/commands/place.ts';

const MAC = '02:00:00:00:05:01';

const fixture = useFixture({ database: DATABASES[0] });

it('a key that a command makes opens the API, and imported routers are for sale', async () => {
	const { server } = fixture();
	await cli(['accounts', 'create', '--email', 'app2@cli.example', '--role', 'app'], server);
	const { stdout } = await cli(['keys', 'create', '--account', 'app2@cli.example'], server);
	const api = createApi(server.url, stdout.trim());
	const file = path.join(server.dataDir, 'more.csv');
	writeFileSync(file, HEADER + GOOD);
	expect(await cli(['routers', 'import', file, ...MAP], server)).toMatchObject({ code: 0, stderr: '' });
	const { data } = await api.listRouters('lat=0.31&lon=32.58&radius=10');
	expect(data).toMatchObject([
		{ name: 'Acacia', price: 500, payment_methods: ['mobile_money', 'mtn_momo', 'airtel_money', 'sandbox'] }
	]);
});

it('stops sales; running time and paid money go on; enable sells again', async () => {
	const { api, server, sql } = fixture();
	const { owner_account_id: owner } = (await sql.all('select * from routers where id = 3'))[0] ?? {};
	const id = await addRouter(fixture(), Number(owner));
	const at = { kind: 'mikrotik', access: 'portal_login', router: id } as const;
	const gateway = await registerRadius(fixture(), at);
	const page = await buyAt(server.url, `/r/${id}`, numberEnding('008'));
	await untilTitled(server.url, page, /paid/i);
	const passId = await sql.count('select max(id) from passes');
	// Its operator is down for 30 seconds.
	const onItsWay = await api.createSession({ router_id: id, phone: numberEnding('006') });
	const payment = await api.pay(onItsWay);
	const unpaid = await api.createSession({ router_id: id });

	expect((await changeRouter(server, id, 'disable')).text).toContain('The router is disabled.');
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

	expect((await changeRouter(server, id, 'enable')).text).toContain('The router is enabled again.');
	expect(await api.createSession({ router_id: id })).toMatchObject({ status: 'pending_payment' });
});

const onItsWayOrder = (id: number) => ({ router_id: id, duration: '1h', payment_method: 'mobile_money' });
