/** A router with gateways of two kinds. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loginUser } from '../../../src/lib/domain/wifi.ts';
import type { RouterOs } from '../../simulators/gateway/routeros.ts';
import type { UniFiConsole } from '../../simulators/gateway/unifi-console.ts';
import { numberEnding } from '../../support/api/api.ts';
import { browse, fieldValue } from '../../support/pages/browsing.ts';
import { connectRouterOs, connectUniFi, newMac, visitOf } from '../../support/gateways/consoles.ts';
import { registerRadius, type RadiusGateway } from '../../support/gateways/gateways.ts';
import { radiusCalls, type RadiusCalls } from '../../support/gateways/radius-calls.ts';
import { DATABASES, eventually, useFixture } from '../../support/server/fixture.ts';

const MINUTE = 60_000;
const MAC = '02:00:00:00:08:01';

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let gateway: RadiusGateway;
	let calls: RadiusCalls;
	let other: RouterOs;

	beforeAll(async () => {
		gateway = await registerRadius(fixture(), { kind: 'mikrotik', access: 'portal_login', router: 3 });
		calls = radiusCalls(fixture().server.url, gateway);
		other = await connectRouterOs(fixture(), 'beside', 3);
	});
	afterEach(() => other.heal());
	afterAll(() => other.stop());

	/** A device at the gateway that asks by RADIUS buys an hour. */
	async function buy(): Promise<number> {
		const { server, sql } = fixture();
		const person = browse(server.url);
		const page = await person.post(`/splash/${gateway.key}`, {
			mac: MAC,
			ip: '10.5.50.9',
			'link-login-only': 'http://10.5.50.1/login'
		});
		await person.post(/<form method="post" action="([^"]+)"/.exec(page.html)?.[1] ?? '', {
			time: '1h 500',
			paymentMethod: 'mobile_money',
			phone: numberEnding('008'),
			purchase: fieldValue(page, 'purchase')
		});
		return eventually('it is paid', async () => {
			const [row] = await sql.all(
				"select id from sessions where status in ('activating', 'active') order by id desc limit 1"
			);
			return row ? Number(row['id']) : null;
		});
	}

	it('lets a buyer in at once at the gateway that uses RADIUS, though the other one is away', async () => {
		const { server, sql, admin } = fixture();
		other.fail('down');
		const id = await buy();
		await eventually('its time runs', async () => (await admin.getSession(id)).status === 'active');
		expect((await calls.authorize(loginUser(id), MAC)).status).toBe(200);
		await server.advance(11 * MINUTE);
		await eventually('nobody is left to give up', async () => {
			const due = server.now();
			return (
				(await sql.count(
					"select count(*) from jobs where kind = 'access.activating' and run_at <= ?",
					due
				)) === 0
			);
		});
		expect((await admin.getSession(id)).status).toBe('active');
		expect(await sql.count('select count(*) from refunds')).toBe(0);
		// The other one hears of it when it is there again: the buyer may go on to it.
		other.heal();
		await server.advance(2 * MINUTE);
		await eventually('it is told', async () => other.user(`s${id}`) !== null);
	});
});

describe.each(DATABASES)('a pass for one device on %s', (database) => {
	const fixture = useFixture({ database });
	let unifi: UniFiConsole;
	let gateway: RadiusGateway;
	let calls: RadiusCalls;

	beforeAll(async () => {
		unifi = await connectUniFi(fixture());
		gateway = await registerRadius(fixture(), { kind: 'mikrotik', access: 'portal_login', router: 3 });
		calls = radiusCalls(fixture().server.url, gateway);
	});
	afterAll(() => unifi.stop());

	it('lets one device in, at a console and a hotspot of one router together', async () => {
		const { server, sql } = fixture();
		const person = browse(server.url);
		const phone = newMac();
		const page = await person.post(`/splash/${gateway.key}`, {
			mac: phone,
			ip: '10.5.50.9',
			'link-login-only': 'http://10.5.50.1/login'
		});
		const bought = await person.post(/<form method="post" action="([^"]+)"/.exec(page.html)?.[1] ?? '', {
			time: '1h 500',
			paymentMethod: 'mobile_money',
			phone: numberEnding('008'),
			purchase: fieldValue(page, 'purchase')
		});
		const path = bought.path.split('?')[0] ?? '';
		const id = await eventually('it is paid', async () => {
			const [row] = await sql.all("select id from sessions where status = 'active' limit 1");
			return row ? Number(row['id']) : null;
		});
		const user = loginUser(id);
		expect((await calls.postAuth(user, phone)).status).toBe(204);
		const start = { user, mac: phone, nas_address: '127.0.0.1' };
		expect(await calls.account('start', 'one', start)).toBe(204);

		const friend = newMac();
		unifi.join(friend);
		const other = browse(server.url);
		await other.get(`${path}?visit=${await visitOf(other, friend)}`);
		const wanted = () => sql.count('select count(*) from admissions where mac = ?', friend);
		expect(await wanted()).toBe(0);

		// When the phone has left, there is room at the console, and none at the hotspot.
		expect(await calls.account('stop', 'one', start)).toBe(204);
		await other.get(`${path}?visit=${await visitOf(other, friend)}`);
		await eventually('the console lets it in', async () => unifi.isIn(friend));
		await eventually('that is noted', () =>
			sql.count('select count(*) from admissions where mac = ? and allowed_at > 0', friend)
		);
		expect((await calls.authorize(user, phone)).status).toBe(401);
	});
});
