/** The limits of an offer at each kind of gateway: sent to those that hold them, and not sold where one does not. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RouterOs } from '../../simulators/gateway/routeros.ts';
import type { UniFiConsole } from '../../simulators/gateway/unifi-console.ts';
import { buyAtUniFi, connectRouterOs, connectUniFi, newMac } from '../../support/gateways/consoles.ts';
import { registerGateway, registerRadius } from '../../support/gateways/gateways.ts';
import {
	base64,
	callBinauth,
	newDevice,
	rhidOf,
	runBinauth,
	waitingAt,
	type NdsDevice
} from '../../support/gateways/opennds.ts';
import { radiusCalls } from '../../support/gateways/radius-calls.ts';
import { cli } from '../../support/server/cli.ts';
import { limitedSales, LOGIN_HOST, type Limits } from '../../support/gateways/limited-sales.ts';
import { eventually, useFixture } from '../../support/server/fixture.ts';

const BOTH = { speed_down_kbps: 2000, speed_up_kbps: 512 };
const DOWN = { speed_down_kbps: 5000 };
const MINUTE = 60_000;
/** Demo routers. */
const [UNIFI, REST, RADIUS, COOVA, NDS, POLL, NDS2] = [3, 4, 5, 6, 7, 8, 10];

const fixture = useFixture({ database: 'sqlite' });

const { setOffers, sell, newestPass, limited, buy, buyAtNds } = limitedSales(fixture);

describe('by RADIUS', () => {
	it.each([
		['mikrotik', RADIUS, { 'reply:Mikrotik-Rate-Limit': '512k/2000k' }],
		['coova', COOVA, { 'reply:WISPr-Bandwidth-Max-Up': 512_000, 'reply:WISPr-Bandwidth-Max-Down': 2_000_000 }]
	] as const)('%s gets the speed of the pass with its password', async (kind, router, expected) => {
		const calls = radiusCalls(
			fixture().server.url,
			await registerRadius(fixture(), { kind, access: 'portal_login', router })
		);
		const sent = async (offer?: number) => {
			const { attributes } = await calls.authorize(
				`s${(await buy({ router_id: router, ...(offer !== undefined && { offer_id: offer }) })).id}`
			);
			const limits = Object.entries(attributes).filter(([name]) => /Rate|WISPr/.test(name));
			return Object.fromEntries(limits.map(([name, { value }]) => [name, value]));
		};
		const [both, down] = await sell(router, BOTH, DOWN);
		expect(await sent(both)).toEqual(expected);
		// RouterOS would use a single rate for both directions.
		expect(await sent(down)).toEqual(
			kind === 'mikrotik'
				? { 'reply:Mikrotik-Rate-Limit': '4294967k/5000k' }
				: { 'reply:WISPr-Bandwidth-Max-Down': 5_000_000 }
		);
		expect(await sent()).toEqual({});
	});
});

describe('a MikroTik hotspot by REST', () => {
	let hotspot: RouterOs;
	beforeAll(async () => {
		hotspot = await connectRouterOs(fixture(), 'hotspot', REST);
	});
	afterAll(() => hotspot.stop());

	const known = (id: number) =>
		eventually('the hotspot knows its user', async () => hotspot.user(`s${id}`) !== null);

	it('has a profile for each speed, which it gets back after a change by hand', async () => {
		const [both] = await sell(REST, BOTH);
		const [limited, plain] = [
			await buy({ router_id: REST, ...(both !== undefined && { offer_id: both }) }),
			await buy({ router_id: REST })
		];
		await Promise.all([known(limited.id), known(plain.id)]);
		expect(hotspot.rateOf(`s${limited.id}`)).toBe('512k/2000k');
		expect(hotspot.rateOf(`s${plain.id}`)).toBeNull();
		const profile = hotspot.user(`s${limited.id}`)?.['profile'] ?? '';
		hotspot.setRate(profile, '512k/2M');
		await known((await buy({ router_id: REST, ...(both !== undefined && { offer_id: both }) })).id);
		expect(hotspot.rateOf(`s${limited.id}`)).toBe('512k/2M');
		hotspot.setRate(profile, '10M/10M');
		await known((await buy({ router_id: REST, ...(both !== undefined && { offer_id: both }) })).id);
		expect(hotspot.rateOf(`s${limited.id}`)).toBe('512k/2000k');
	});
});

describe('a UniFi console', () => {
	let unifi: UniFiConsole;
	beforeAll(async () => {
		unifi = await connectUniFi(fixture());
	});
	afterAll(() => unifi.stop());

	/** An hour of a device, with that speed. */
	async function buyWith(speed: Limits, mac = newMac()) {
		unifi.join(mac);
		return limited(speed, () => buyAtUniFi(fixture(), mac));
	}

	it('gets the speed with each authorization', async () => {
		const both = await buyWith(BOTH);
		await eventually('it is in', async () => unifi.isIn(both.mac));
		expect(unifi.speedOf(both.mac)).toEqual({ rxRateLimitKbps: 2000, txRateLimitKbps: 512 });
		const down = await buyWith(DOWN);
		await eventually('it is in', async () => unifi.isIn(down.mac));
		expect(unifi.speedOf(down.mac)).toEqual({ rxRateLimitKbps: 5000 });
	});

	it('gives a device that has two passes the speed of one only until the end of that one', async () => {
		const { mac } = await buyWith(BOTH);
		const { sql, server } = fixture();
		const pass = await newestPass();
		const running = 'select count(*) from passes where ends_at is not null and id = ?';
		await eventually('its time runs', async () => (await sql.count(running, pass)) === 1);
		for (const [table, column] of [
			['passes', 'ends_at'],
			['sessions', 'expires_at']
		]) {
			await sql.run(`update ${table} set ${column} = ${column} + ? where id = ?`, 180 * MINUTE, pass);
		}
		await buyWith({}, mac);
		await eventually('it has no limit', async () => Object.keys(unifi.speedOf(mac)).length === 0);
		expect(unifi.minutesOf(mac)).toBeLessThanOrEqual(61);
		await server.advance(65 * MINUTE);
		await eventually(
			'it has the limit of the other pass',
			async () => unifi.speedOf(mac).rxRateLimitKbps === 2000
		);
	});

	it('takes no speed above its own limit', async () => {
		expect(await setOffers(UNIFI, { speed_down_kbps: 100_001 })).toMatchObject({
			status: 400,
			detail: 'The gateway "console" (unifi) takes limits of up to 100000 kbit/s.'
		});
		expect((await setOffers(UNIFI, { speed_down_kbps: 100_000 })).status).toBe(200);
		await setOffers(UNIFI);
	});
});

describe('openNDS', () => {
	describe('with a BinAuth script', () => {
		let gateway: Awaited<ReturnType<typeof registerGateway>>;
		beforeAll(async () => {
			gateway = await registerGateway(fixture().server, 'opennds', { loginHost: LOGIN_HOST, router: NDS });
		});

		/** As a script of an earlier version asks. */
		async function signIn(device: NdsDevice, pass: number) {
			const fields = { method: 'auth_client', custom: base64(`s${pass}`) };
			const response = await callBinauth(fixture().server.url, gateway, device, fields);
			return `${response.status} ${await response.text()}`;
		}

		const runScript = (device: NdsDevice, pass: number, version?: string) =>
			runBinauth(fixture().server, gateway, device, pass, version);

		it('gets the speed after the seconds; an older script gets the seconds alone, and its buyer in', async () => {
			const [limited, plain] = [newDevice(), newDevice()];
			const pass = await buyAtNds(gateway, limited, BOTH);
			expect(await runScript(limited, pass)).toMatch(/^3[56]\d\d 512 2000 0 0$/);
			expect(await signIn(limited, pass)).toMatch(/^200 3[56]\d\d$/);
			const other = await buyAtNds(gateway, plain, {});
			expect(await runScript(plain, other)).toMatch(/^3[56]\d\d 0 0 0 0$/);
		});

		it('sells a speed only after the script has asked on openNDS 10, and after a change of settings', async () => {
			// An inactive offer waits for the gateway.
			const inactive = { name: 'Later', duration: '1h', price: 500, active: false, ...BOTH };
			const { status: kept } = await fixture().owner.send('PUT', `/v1/owner/routers/${NDS2}/offers`, {
				body: { offers: [inactive], hourly: true }
			});
			expect(kept).toBe(200);
			gateway = await registerGateway(fixture().server, 'opennds', { loginHost: LOGIN_HOST, router: NDS2 });
			const device = newDevice();
			const pass = await buyAtNds(gateway, device, {});
			await signIn(device, pass);
			await runScript(device, pass, '9.10.0');
			const { status, detail } = await setOffers(NDS2, BOTH);
			expect(status).toBe(400);
			expect(detail).toContain('holds limits only with openNDS 10 or newer');
			await runScript(device, pass);
			const set = ['gateways', 'set', gateway.name, '--login-host', LOGIN_HOST];
			expect((await cli(set, fixture().server)).code).toBe(0);
			expect((await setOffers(NDS2, BOTH)).status).toBe(200);
			await setOffers(NDS2);
		});
	});

	it('of level 4 fetches the speed with the minutes', async () => {
		const more = ['--level', '4'];
		const gateway = await registerGateway(fixture().server, 'opennds', {
			...{ loginHost: LOGIN_HOST, router: POLL, more }
		});
		await sell(POLL, BOTH);
		const device = newDevice();
		await buyAtNds(gateway, device, BOTH);
		const items = await waitingAt(gateway);
		expect(items).toMatch(new RegExp(`^\\* ${rhidOf(gateway, device)} \\d+ 512 2000 0 0 `));
	});
});
