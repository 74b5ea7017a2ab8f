/** A router with gateways of several kinds. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loginUser } from '../../../src/lib/domain/wifi.ts';
import type { RouterOs } from '../../simulators/gateway/routeros.ts';
import type { UniFiConsole } from '../../simulators/gateway/unifi-console.ts';
import { browse } from '../../support/pages/browsing.ts';
import { buyHourOn } from '../../support/pages/splash.ts';
import { connectRouterOs, connectUniFi, newMac, visitOf } from '../../support/gateways/consoles.ts';
import { registerRadius, type RadiusGateway } from '../../support/gateways/gateways.ts';
import { radiusCalls, type RadiusCalls } from '../../support/gateways/radius-calls.ts';
import { DATABASES, eventually, useFixture } from '../../support/server/fixture.ts';

const MINUTE = 60_000;

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let gateway: RadiusGateway;
	let calls: RadiusCalls;
	let unifi: UniFiConsole;
	let other: RouterOs;

	beforeAll(async () => {
		unifi = await connectUniFi(fixture());
		gateway = await registerRadius(fixture(), { kind: 'mikrotik', access: 'portal_login', router: 3 });
		calls = radiusCalls(fixture().server.url, gateway);
	});
	afterAll(() => Promise.all([unifi.stop(), other?.stop()]));

	/** A device at the gateway that asks by RADIUS buys an hour. @returns the path of the purchase, and its pass */
	async function buy(mac: string) {
		const { server, sql } = fixture();
		const person = browse(server.url);
		const before = await sql.count('select max(id) from sessions');
		const page = await person.post(`/splash/${gateway.key}`, {
			mac,
			ip: '10.5.50.9',
			'link-login-only': 'http://10.5.50.1/login'
		});
		const path = await buyHourOn(person, page);
		const id = await eventually('its time runs', () =>
			sql.count("select max(id) from sessions where status = 'active' and id > ?", before)
		);
		return { path, id, user: loginUser(id) };
	}

	it('lets one device of a pass in, at a console and a hotspot together', async () => {
		const { server, sql } = fixture();
		const [phone, friend] = [newMac(), newMac()];
		const { path, user } = await buy(phone);
		expect((await calls.postAuth(user, phone)).status).toBe(204);
		const start = { user, mac: phone, nas_address: '127.0.0.1' };
		expect(await calls.account('start', 'one', start)).toBe(204);

		unifi.join(friend);
		const person = browse(server.url);
		await person.get(`${path}?visit=${await visitOf(person, friend)}`);
		expect(await sql.count('select count(*) from admissions where mac = ?', friend)).toBe(0);

		// When the phone has left, there is room at the console, and none at the hotspot.
		expect(await calls.account('stop', 'one', start)).toBe(204);
		await person.get(`${path}?visit=${await visitOf(person, friend)}`);
		await eventually('the console lets it in', async () => unifi.isIn(friend));
		await eventually('that is noted', () =>
			sql.count('select count(*) from admissions where mac = ? and allowed_at > 0', friend)
		);
		expect((await calls.authorize(user, phone)).status).toBe(401);
	});

	it('lets a buyer in at once at the gateway that uses RADIUS, though another one is away', async () => {
		const { server, sql, admin } = fixture();
		other = await connectRouterOs(fixture(), 'beside', 3);
		other.fail('down');
		const mac = newMac();
		const { id, user } = await buy(mac);
		expect((await calls.authorize(user, mac)).status).toBe(200);
		await server.advance(11 * MINUTE);
		await eventually('nobody is left to give up', async () => {
			const due = "select count(*) from jobs where kind = 'access.activating' and run_at <= ?";
			return (await sql.count(due, server.now())) === 0;
		});
		expect((await admin.getSession(id)).status).toBe('active');
		expect(await sql.count('select count(*) from refunds')).toBe(0);
		// The other one hears of it when it is there again: the buyer may go on to it.
		other.heal();
		await server.advance(2 * MINUTE);
		await eventually('it is told', async () => other.user(`s${id}`) !== null);
	});
});
