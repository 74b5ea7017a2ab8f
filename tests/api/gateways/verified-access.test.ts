/** In live mode a router sells once a gateway has responded, or once an administrator has confirmed its access. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loginUser } from '../../../src/lib/domain/wifi.ts';
import { PROTOCOLS } from '../../simulators/protocols.ts';
import { type Simulator, startSimulator } from '../../simulators/simulator.ts';
import { createAuthmon } from '../../simulators/gateway/authmon.ts';
import { untilQuiet } from '../../torture/time.ts';
import { createApi, numberEnding, type Api, type Payment } from '../../support/api/api.ts';
import { selfSigned } from '../../support/gateways/certificates.ts';
import { registerGateway, registerRadius } from '../../support/gateways/gateways.ts';
import { newDevice, reportAuth } from '../../support/gateways/opennds.ts';
import { recordResponse } from '../../support/gateways/watch.ts';
import { radiusCalls } from '../../support/gateways/radius-calls.ts';
import { startTlsFront, type TlsFront } from '../../support/gateways/tls-front.ts';
import { DATABASES, eventually, insertKey, SECRET } from '../../support/server/fixture.ts';
import { cli } from '../../support/server/cli.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { openSql, type Sql } from '../../support/database/sql.ts';
import { acceptInvitation, administratorOf, changeRouter } from '../../support/pages/administrator.ts';
import { browse } from '../../support/pages/browsing.ts';

const MINUTE = 60_000;
const MAC = '02:00:00:00:00:01';
const REASON = 'the controller of the venue lets buyers in';

describe.each(DATABASES)('on %s', (database) => {
	const folder = mkdtempSync(path.join(tmpdir(), 'airtill-live-'));
	let simulator: Simulator;
	let front: TlsFront;
	let server: TestServer;
	let sql: Sql;
	let api: Api;
	let ownerId: number;

	beforeAll(async () => {
		const protocol = PROTOCOLS['mtn']?.({ market: 'mtnuganda' });
		if (!protocol) throw new Error('There is no simulated MTN');
		simulator = await startSimulator(protocol);
		const certificate = selfSigned('localhost');
		front = await startTlsFront(simulator.environment['MTN_BASE_URL'] ?? '', certificate);
		const authority = path.join(folder, 'authority.pem');
		writeFileSync(authority, certificate.cert);
		const env = {
			...simulator.environment,
			MTN_BASE_URL: front.url.replace('127.0.0.1', 'localhost'),
			MTN_CALLBACKS: 'off',
			NODE_EXTRA_CA_CERTS: authority,
			AIRTILL_MODE: 'live',
			AIRTILL_SECRET: SECRET
		};
		server = await startServer({ database, env });
		sql = await openSql(server.databaseUrl);
		api = createApi(server.url, (await insertKey(sql, { mode: 'live' })).key);
		ownerId = (await insertKey(sql, { mode: 'live', role: 'owner' })).accountId;
	});
	afterAll(async () => {
		await sql?.close();
		await server?.stop();
		await front?.stop();
		await simulator?.stop();
		rmSync(folder, { recursive: true, force: true });
	});

	const newRouter = () =>
		sql.count(
			`insert into routers (owner_account_id, name, ssid, security, lat, lon, price_minor, currency, status,
				payment_methods, min_duration, max_duration, created_at, updated_at)
				values (?, 'Real', 'Real', 'wpa', 0.3, 32.5, 500, 'UGX', 'online', '["mtn_momo"]', '15m', '30d', 0, 0)
				returning id`,
			ownerId
		);
	const run = (...args: string[]) => cli(args, server);
	const confirm = (router: number) => changeRouter(server, router, 'confirm', REASON);
	const withdraw = (router: number) => changeRouter(server, router, 'withdraw', REASON);
	const order = (router: number) =>
		api.createSession({ router_id: router, payment_method: 'mtn_momo', phone: numberEnding('123') });
	const refusesOrders = async (router: number) => {
		expect(await api.getRouter(router)).toMatchObject({
			status: 'offline',
			status_reason: 'access_unverified'
		});
		const body = {
			router_id: router,
			duration: '1h',
			payment_method: 'mtn_momo',
			phone: numberEnding('123')
		};
		await api.refused('400 router_unavailable', 'POST', '/v1/sessions', { body });
	};
	const sells = async (router: number) => {
		expect(await api.getRouter(router)).toMatchObject({ status: 'online', status_reason: null });
		expect(await order(router)).toMatchObject({ status: 'pending_payment' });
	};

	async function advance(ms: number): Promise<void> {
		simulator.advance(ms);
		await server.advance(ms);
		await untilQuiet(server, sql);
	}
	/** @param afterMs when the payer approves */
	async function startPayment(router: number, afterMs: number, before = () => Promise.resolve()) {
		const session = await order(router);
		await before();
		simulator.script({ phone: session.phone.slice(1) }, { guards: false, afterMs });
		const payment = await api.pay(session);
		await eventually('the operator has it', () =>
			sql.count("select count(*) from payments where id = ? and submit_state = 'accepted'", payment.id)
		);
		return { session, payment };
	}
	async function until(payment: Payment, status: Payment['status'], stepMs = MINUTE / 2): Promise<Payment> {
		for (let step = 0; step < 60; step += 1) {
			const found = await api.getPayment(payment.id);
			if (found.status === status) return found;
			await advance(stepMs);
		}
		throw new Error(`Payment ${payment.id} is not ${status}`);
	}

	it('sells a router while it has a gateway that has responded; a test of ours is no response', async () => {
		const router = await newRouter();
		await refusesOrders(router);
		const doctor = await run('doctor');
		expect(doctor.stdout).toMatch(
			/^FAIL access: .* no gateway has responded: \d+ Real.* - connect a gateway/m
		);
		expect(doctor.code).toBe(1);
		const admin = await administratorOf(server);
		expect((await admin.get(`/admin/routers/${router}`)).text).toContain(
			'None of its gateways has responded'
		);

		const gateway = await registerRadius(
			{ server, sql },
			{ kind: 'mikrotik', access: 'portal_login', router }
		);
		const calls = radiusCalls(server.url, gateway);
		await refusesOrders(router);
		const tested = await cli(['gateways', 'test', gateway.name], {
			env: { ...server.env, ORIGIN: server.url }
		});
		expect(tested.stdout).toContain('ok RADIUS: this installation accepts the token');
		expect(tested.stdout).toContain(`FAIL router: "Real" does not sell now (access_unverified)`);
		expect(tested.code).toBe(1);
		expect((await calls.send('check', '', 'Bearer wrong')).status).toBe(403);
		await refusesOrders(router);
		expect((await run('gateways', 'list')).stdout).toMatch(new RegExp(`^${gateway.name} .* never +new`, 'm'));

		expect((await calls.authorize('nobody', MAC)).status).toBe(404);
		await sells(router);
		expect((await run('doctor')).stdout).not.toMatch(/^\w+ access:/m);

		expect((await run('gateways', 'remove', gateway.name)).code).toBe(0);
		await refusesOrders(router);
	});

	it('sells again after a rotation once the gateway has the new secrets; running time goes on', async () => {
		const router = await newRouter();
		const gateway = await registerRadius(
			{ server, sql },
			{ kind: 'mikrotik', access: 'portal_login', router }
		);
		const old = radiusCalls(server.url, gateway);
		await old.authorize('nobody', MAC);
		const running = await startPayment(router, 0);
		await until(running.payment, 'success');
		const onItsWay = await startPayment(router, 2 * MINUTE);
		const unpaid = await order(router);

		let rotated = { stdout: '', stderr: '' };
		// A message with the old token is still being handled.
		await recordResponse({ server }, [gateway.name], {}, async () => {
			rotated = await run('gateways', 'rotate', gateway.name, '--token');
		});
		expect(rotated.stderr).toContain('Nothing is sold there until the gateway has responded');
		await refusesOrders(router);
		expect((await old.authorize('nobody', MAC)).status).toBe(403);
		await refusesOrders(router);
		const body = { session_id: unpaid.id, amount: unpaid.amount, phone: unpaid.phone };
		await api.refused('400 router_unavailable', 'POST', '/v1/payments/mobile-money', { body });
		expect(await until(onItsWay.payment, 'success')).toMatchObject({ applied: true });
		expect(await api.getSession(running.session.id)).toMatchObject({ status: 'active' });

		const token = /^Token of the RADIUS server, .*:\n(\S+)$/m.exec(rotated.stdout)?.[1] ?? '';
		const calls = radiusCalls(server.url, { ...gateway, token });
		expect((await calls.authorize(loginUser(running.session.id), MAC)).status).toBe(200);
		await sells(router);
	});

	it('sells at openNDS level 4 after the first report of its script, which anybody’s polls are not', async () => {
		const router = await newRouter();
		const gateway = await registerGateway(server, 'opennds', {
			...{ loginHost: '192.168.8.1', router },
			more: ['--level', '4']
		});
		const authmon = createAuthmon(gateway.portal, '10.3.0');
		expect(await authmon.poll()).toEqual({ items: '*', ack: 'ack' });
		await refusesOrders(router);
		expect(await reportAuth(server.url, gateway, newDevice())).toBe(204);
		await sells(router);
	});

	it('sells a router whose access an administrator has confirmed, until that is withdrawn', async () => {
		const router = await newRouter();
		expect((await changeRouter(server, router, 'confirm', ' ')).status).toBe(400);
		await refusesOrders(router);
		expect((await confirm(router)).text).toContain('The access is confirmed.');
		await sells(router);
		expect((await withdraw(router)).text).toContain('The confirmation is withdrawn.');
		await refusesOrders(router);
		const entries = await sql.all(
			"select actor, action, reason from audit_log where action like 'router.%' order by id"
		);
		expect(entries).toEqual(
			['router.access_confirmed', 'router.access_withdrawn'].map((action) => ({
				actor: expect.stringMatching(/^account \d+$/),
				action,
				reason: REASON
			}))
		);
	});

	it('sells a shared password without a gateway', async () => {
		const router = await newRouter();
		await sql.run("update routers set access_kind = 'shared_password' where id = ?", router);
		expect(await api.getRouter(router)).toMatchObject({ status_reason: 'network_password_missing' });
		const network = { access: 'shared_password wpa', password: 'k7mq-x2vd-9hta' };
		const [owner] = await acceptInvitation(server, 'owner');
		const itsAccount = '(select max(id) from accounts)';
		await sql.run(`update routers set owner_account_id = ${itsAccount} where id = ?`, router);
		await owner.post(`/owner/routers/${router}/edit?/access`, network);
		await sells(router);
	});

	it('keeps money that was on its way until access is confirmed again; takes no new money', async () => {
		const router = await newRouter();
		await confirm(router);
		const unpaid = await order(router);
		const { session, payment } = await startPayment(router, 2 * MINUTE);
		await withdraw(router);
		const body = { session_id: unpaid.id, amount: unpaid.amount, phone: unpaid.phone };
		await api.refused('400 router_unavailable', 'POST', '/v1/payments/mobile-money', { body });
		expect(await until(payment, 'success')).toMatchObject({ applied: true });
		expect(await api.getSession(session.id)).toMatchObject({ status: 'activating', payment_id: payment.id });
		await confirm(router);
		await advance(MINUTE / 2);
		expect(await api.getSession(session.id)).toMatchObject({ status: 'active' });
	});

	it('starts no time at a gateway that replaced the last one, until it has responded', async () => {
		const router = await newRouter();
		const at = { kind: 'mikrotik', access: 'portal_login', router } as const;
		const first = await registerRadius({ server, sql }, at);
		await radiusCalls(server.url, first).authorize('nobody', MAC);
		const { session, payment } = await startPayment(router, 2 * MINUTE);
		await run('gateways', 'remove', first.name);
		const second = await registerRadius({ server, sql }, at);
		await until(payment, 'success');
		expect(await api.getSession(session.id)).toMatchObject({ status: 'activating' });
		await radiusCalls(server.url, second).authorize('nobody', MAC);
		await advance(MINUTE / 2);
		expect(await api.getSession(session.id)).toMatchObject({ status: 'active' });
	});

	it('refunds money that comes late if nobody confirms the access', async () => {
		const router = await newRouter();
		await confirm(router);
		const { session, payment } = await startPayment(router, 12 * MINUTE, () => advance(25 * MINUTE));
		await withdraw(router);
		await until(payment, 'expired', 1.5 * MINUTE);
		expect(await api.getSession(session.id)).toMatchObject({ status: 'cancelled' });
		expect(await until(payment, 'success')).toMatchObject({ applied: true });
		await until(payment, 'refunded', 1.5 * MINUTE);
		expect(await api.getSession(session.id)).toMatchObject({
			status: 'cancelled',
			status_reason: 'provisioning_failed'
		});
	});

	it('sells on the splash page of a gateway after that gateway has responded', async () => {
		const router = await newRouter();
		const at = { kind: 'mikrotik', access: 'portal_login', router } as const;
		const first = await registerRadius({ server, sql }, at);
		await radiusCalls(server.url, first).authorize('nobody', MAC);
		const second = await registerRadius({ server, sql }, at);
		await sells(router);
		const offers = async ({ key }: { key: string }) => {
			const fields = { mac: MAC, ip: '10.5.50.9', 'link-login-only': 'http://10.5.50.1/login' };
			return (await browse(server.url).post(`/splash/${key}`, fields)).html.includes('name="phone"');
		};
		expect([await offers(first), await offers(second)]).toEqual([true, false]);
		await radiusCalls(server.url, second).authorize('nobody', MAC);
		expect(await offers(second)).toBe(true);
		await run('gateways', 'rotate', first.name, '--token');
		expect([await offers(first), await offers(second)]).toEqual([false, true]);
		await confirm(router);
		expect(await offers(first)).toBe(true);
	});
});
