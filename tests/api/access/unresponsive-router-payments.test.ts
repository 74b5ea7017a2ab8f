/** Payments that succeed after the only gateway of a router (RADIUS) stopped responding. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { numberEnding } from '../../support/api/api.ts';
import { browse } from '../../support/pages/browsing.ts';
import { connectUniFi, newMac, visitOf } from '../../support/gateways/consoles.ts';
import { registerGateway } from '../../support/gateways/gateways.ts';
import { buyAt } from '../../support/pages/purchase.ts';
import { clockOf, connect, recordResponse, minute, minutes } from '../../support/gateways/watch.ts';
import { DATABASES, eventually, startFixture, type Fixture } from '../../support/server/fixture.ts';

const ROUTER = 3;
const second = 1_000;

describe.each(DATABASES)('on %s', (database) => {
	let fixture: Fixture;
	let gateway: string;

	beforeEach(async () => {
		fixture = await startFixture({ database });
		gateway = (await registerGateway(fixture.server, 'coova', { loginHost: '10.1.0.1', router: ROUTER }))
			.name;
	});
	afterEach(() => fixture.stop());

	/** Connections go on there, and the gateway reports nothing about them any more. */
	async function stopResponding(): Promise<void> {
		await recordResponse(fixture, [gateway]);
		await connect(fixture, { gateway });
		await minutes(fixture, 1, [gateway]);
		await minutes(fixture, 3);
		expect((await fixture.api.getRouter(ROUTER)).status).toBe('offline');
	}
	/** Ordered and asked for while the router was sold; paid after its gateway stopped responding. */
	async function payDuringOutage(): Promise<number> {
		const session = await fixture.api.createSession({ router_id: ROUTER });
		const payment = await fixture.api.pay(session);
		await fixture.asked(payment);
		await fixture.sql.run('update routers set unresponsive_since = 1 where id = ?', ROUTER);
		// A check that runs meanwhile knows its last sign of life already.
		await fixture.sql.run(
			'update gateways set unresponsive_since = 1, checked_seen_at = seen_at where name = ?',
			gateway
		);
		expect(await fixture.decided(payment)).toMatchObject({ status: 'success' });
		return session.id;
	}
	const becomes = (id: number, status: string) =>
		eventually(`session ${id} is ${status}`, async () => {
			const session = await fixture.api.getSession(id);
			return session.status === status && session;
		});

	it('starts the time when the gateway responds, also after a restart', async () => {
		await stopResponding();
		await recordResponse(fixture, [gateway]);
		const id = await payDuringOutage();
		expect(await fixture.api.getSession(id)).toMatchObject({
			status: 'activating',
			starts_at: null,
			password: null
		});
		await fixture.server.advance(3 * minute);
		await fixture.server.kill();
		await fixture.server.restart();
		await fixture.server.advance(6 * second);
		expect((await fixture.api.getSession(id)).status).toBe('activating');
		const respondedAt = clockOf(fixture).now();
		await recordResponse(fixture, [gateway]);
		await fixture.server.advance(6 * second);
		const session = await becomes(id, 'active');
		// It may have been looking just then, with a moment that it noted before.
		expect(Date.parse(session.starts_at ?? '')).toBeGreaterThanOrEqual(respondedAt - second);
		expect(Date.parse(session.expires_at ?? '') - Date.parse(session.starts_at ?? '')).toBe(60 * minute);
		expect(session.password).not.toBeNull();
		// What gives up comes later, and finds nothing to give up.
		await fixture.server.advance(8 * minute);
		expect((await fixture.api.getSession(id)).status).toBe('active');
		expect(await fixture.sql.count('select count(*) from refunds')).toBe(0);
	});

	it('refunds the payment after ten minutes without a response', async () => {
		await stopResponding();
		await recordResponse(fixture, [gateway]);
		const id = await payDuringOutage();
		expect((await fixture.api.getSession(id)).status).toBe('activating');
		await fixture.server.advance(10 * minute + second);
		expect(await becomes(id, 'cancelled')).toMatchObject({
			status_reason: 'provisioning_failed',
			starts_at: null
		});
		await eventually('the money is back', async () => {
			await fixture.server.advance(5 * second);
			return (await fixture.sql.count("select count(*) from payments where status = 'refunded'")) === 1;
		});
		// It responds again too late: what went back is not sold again.
		await recordResponse(fixture, [gateway]);
		await fixture.server.advance(6 * second);
		expect((await fixture.api.getSession(id)).status).toBe('cancelled');
	});

	it('keeps waiting when the clock is set back before a restart', async () => {
		await stopResponding();
		await recordResponse(fixture, [gateway]);
		const id = await payDuringOutage();
		const giveUpAt = () => fixture.sql.count("select run_at from jobs where kind = 'access.activating'");
		const until = await giveUpAt();
		await fixture.server.advance(-minute);
		await fixture.server.restart();
		await eventually('all jobs were looked at', async () => {
			const at = await giveUpAt();
			return at > clockOf(fixture).now() + 9 * minute && at < until - 30 * second;
		});
		expect((await fixture.api.getSession(id)).status).toBe('activating');
		expect(await fixture.sql.count('select count(*) from refunds')).toBe(0);
		await recordResponse(fixture, [gateway]);
		await fixture.server.advance(6 * second);
		await becomes(id, 'active');
	});

	it('waits for the console that the device has come to, not for another gateway', async () => {
		const unifi = await connectUniFi(fixture);
		unifi.fail('down');
		const { server, sql } = fixture;
		const person = browse(server.url);
		const mac = newMac();
		unifi.join(mac);
		const visit = await visitOf(person, mac);
		const path = await buyAt(server.url, `/r/${ROUTER}`, numberEnding('123'));
		await eventually('the operator is asked', () =>
			sql.count('select count(*) from sandbox_charges where queued_at is not null')
		);
		await sql.run('update routers set unresponsive_since = 1 where id = ?', ROUTER);
		await sql.run('update gateways set unresponsive_since = 1');
		await server.advance(3 * second);
		const newest = async () => (await sql.all('select status from sessions order by id desc limit 1'))[0];
		await eventually('it waits', async () => (await newest())?.['status'] === 'activating');
		await person.get(`${path}?visit=${visit}`);
		await eventually('the console is to be told', () => sql.count('select count(*) from admissions'));
		await recordResponse(fixture, [gateway]);
		await server.advance(6 * second);
		await eventually('nobody waits for a sign any more', async () => {
			return (await sql.count("select count(*) from jobs where kind = 'access.sign'")) === 0;
		});
		expect((await newest())?.['status']).toBe('activating');
		unifi.heal();
		await eventually('its time runs', async () => (await newest())?.['status'] === 'active');
		expect(unifi.isIn(mac)).toBe(true);
		await unifi.stop();
	});

	it('sells at a gateway that has not responded yet, or that nobody uses', async () => {
		const { session } = await fixture.buy({ router_id: ROUTER });
		expect(session.status).toBe('active');
		await recordResponse(fixture, [gateway]);
		await minutes(fixture, 5);
		expect((await fixture.buy({ router_id: ROUTER })).session.status).toBe('active');
		// A router without any gateway, too.
		expect((await fixture.buy({ router_id: 4 })).session.status).toBe('active');
	});
});
