/** One console, or router, that is registered as several gateways. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loginUser } from '../../../../src/lib/domain/wifi.ts';
import { startRouterOs, type RouterOs } from '../../../simulators/gateway/routeros.ts';
import { startUniFi, type UniFiConsole } from '../../../simulators/gateway/unifi-console.ts';
import { addConsole, buyAtUniFi, newMac, ROUTER_OS, UNIFI_KEY } from '../../../support/gateways/consoles.ts';
import { admissionsOf } from '../../../support/gateways/admissions.ts';
import { DATABASES, eventually, useFixture } from '../../../support/server/fixture.ts';

const [LOBBY, GARDEN] = ['02:aa:bb:cc:dd:01', '02:aa:bb:cc:dd:02'];
const SECOND = 1_000;
const MINUTE = 60 * SECOND;

describe.each(DATABASES)('on %s', (kind) => {
	const fixture = useFixture({ database: kind });
	let unifi: UniFiConsole;
	let hotspot: RouterOs;

	beforeAll(async () => {
		unifi = await startUniFi(UNIFI_KEY);
		hotspot = await startRouterOs(ROUTER_OS);
		for (const [name, router, point] of [
			['lobby', '3', LOBBY],
			['garden', '7', GARDEN]
		] as const) {
			const site = ['--router', router, '--kind', 'unifi', '--site', 'default', '--access-point', point];
			await addConsole(fixture(), [name, ...site, '--api', unifi.url, '--api-insecure'], UNIFI_KEY);
		}
	});
	afterAll(() => Promise.all([unifi.stop(), hotspot.stop()]));

	const statusOf = async (id: number) => {
		const [row] = await fixture().sql.all('select status from sessions where id = ?', id);
		return row?.['status'];
	};
	const rowsOf = (id: number) => admissionsOf(fixture().sql, id);
	async function inside(mac: string, accessPoint: string): Promise<number> {
		const { sessionId } = await buyAtUniFi(fixture(), mac, accessPoint);
		await eventually('its time runs', async () => (await statusOf(sessionId)) === 'active');
		// A visit that is noted after the payment comes later.
		await eventually('it is in', async () => unifi.isIn(mac));
		await eventually('that is noted', async () => (await rowsOf(sessionId))[0]?.['state'] === 'in');
		return sessionId;
	}
	const end = async (id: number) => {
		// An end beside a call without an answer is repeated only a minute later.
		await eventually('every call has its answer', async () => {
			const busy =
				"select count(*) from jobs where kind = 'access.gateway' and (lease_until > 0 or run_at <= ?)";
			if ((await fixture().sql.count(busy, fixture().server.now())) > 0) return false;
			return (await rowsOf(id)).every((row) => row['unanswered_at'] === null);
		});
		expect((await fixture().admin.send('DELETE', `/v1/sessions/${id}`)).status).toBe(200);
		await eventually('it is out', async () => (await rowsOf(id)).every(({ state }) => state === 'out'));
	};

	it('keeps a device online when its pass at the other gateway of the site ends', async () => {
		const mac = newMac();
		unifi.join(mac);
		const first = await inside(mac, LOBBY);
		const second = await inside(mac, GARDEN);
		await end(first);
		expect(unifi.isIn(mac)).toBe(true);
		await eventually('it is told anew', async () => (await rowsOf(second))[0]?.['state'] === 'in');
		expect(unifi.isIn(mac)).toBe(true);
		await end(second);
		expect(unifi.isIn(mac)).toBe(false);
	});

	it('sends the console the end of the last pass, whichever is sent last', async () => {
		const mac = newMac();
		unifi.join(mac);
		const long = await inside(mac, LOBBY);
		await fixture().sql.run('update passes set ends_at = ends_at + ? where id = ?', 120 * MINUTE, long);
		const short = await inside(mac, GARDEN);
		expect(unifi.minutesOf(mac)).toBeGreaterThan(170);
		await end(short);
		expect(unifi.isIn(mac)).toBe(true);
		await end(long);
		expect(unifi.isIn(mac)).toBe(false);
	});

	it('keeps devices of another site or console apart', async () => {
		const elsewhere = await startUniFi(UNIFI_KEY);
		const site = ['--router', '5', '--kind', 'unifi', '--site', 'other-name'];
		await addConsole(fixture(), ['annex', ...site, '--api', elsewhere.url, '--api-insecure'], UNIFI_KEY);
		const mac = newMac();
		unifi.join(mac);
		const pass = await inside(mac, LOBBY);
		const [own] = await rowsOf(pass);
		const annex = await fixture().sql.count("select id from gateways where name = 'annex'");
		// The same device is in there with a pass that goes on.
		const { session } = await fixture().buy({ router_id: 6 });
		const columns = 'mac, sent_until, allowed_until, allowed_at, created_at';
		await fixture().sql.run(
			`insert into admissions (gateway_id, pass_id, ${columns})
				select ?, ?, ${columns} from admissions where id = ?`,
			annex,
			session.id,
			Number(own?.['id'])
		);
		await end(pass);
		expect(unifi.isIn(mac)).toBe(false);
		await elsewhere.stop();
	});

	it('keeps a user on a MikroTik that is registered twice until its end, not longer', async () => {
		for (const name of ['hotspot', 'hotspot-again']) {
			const place = ['--router', '4', '--kind', 'mikrotik', '--login-host', '10.5.50.1', '--control', 'rest'];
			const api = ['--api', hotspot.url, '--api-user', ROUTER_OS.user];
			await addConsole(fixture(), [name, ...place, ...api], ROUTER_OS.password);
		}
		const { session } = await fixture().buy({ router_id: 4 });
		const user = loginUser(session.id);
		await eventually('both have it', async () => {
			const rows = await rowsOf(session.id);
			return rows.length === 2 && rows.every(({ state }) => state === 'in');
		});
		expect(hotspot.user(user)).not.toBeNull();
		await end(session.id);
		expect(hotspot.user(user)).toBeNull();
	});
});
