/**
 * The limits of an offer at each kind of gateway: speed and data are sent to those that hold them, what was used is read, and
 * nothing is sold where one does not hold it. Data by RADIUS accounting is in ../radius/.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RouterOs } from '../../simulators/gateway/routeros.ts';
import type { UniFiConsole } from '../../simulators/gateway/unifi-console.ts';
import {
	buyAtUniFi,
	connectRouterOs,
	connectUniFi,
	newMac,
	visitOf
} from '../../support/gateways/consoles.ts';
import {
	gatewayName,
	registerGateway,
	registerRadius,
	type Registered
} from '../../support/gateways/gateways.ts';
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
import { untilQuiet } from '../../torture/time.ts';

const BOTH = { speed_down_kbps: 2000, speed_up_kbps: 512 };
const DOWN = { speed_down_kbps: 5000 };
const DATA = { data_limit_mb: 100 };
const MB = 1_000_000;
const MINUTE = 60_000;
/** Demo routers. */
const [UNIFI, REST, RADIUS, COOVA, NDS, POLL, WIFI, NDS2] = [3, 4, 5, 6, 7, 8, 9, 10];

const fixture = useFixture({ database: 'sqlite' });

const { setOffers, sell, newestPass, limited, buy: order, buyAtNds } = limitedSales(fixture);

const dataOf = async (id: number) => {
	const { status, status_reason, data_used_mb, data_left_mb } = await fixture().admin.getSession(id);
	return { status, status_reason, data_used_mb, data_left_mb };
};
const used = (id: number, megabytes: number) =>
	eventually(`${megabytes} MB are used`, async () => (await dataOf(id)).data_used_mb === megabytes);
/** Waits for running jobs: one that runs while the clock moves plans its next read too late. */
const nextReadPlanned = () => untilQuiet(fixture().server, fixture().sql);
const isUsedUp = (id: number) =>
	eventually('the session has ended', async () => {
		const { status, status_reason } = await dataOf(id);
		return status === 'ended' && status_reason === 'data_limit_reached';
	});

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
				`s${(await order({ router_id: router, ...(offer !== undefined && { offer_id: offer }) })).id}`
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

describe('two MikroTik hotspots by REST', () => {
	let hotspots: RouterOs[];
	let offer: number;
	beforeAll(async () => {
		hotspots = [
			await connectRouterOs(fixture(), 'front', REST),
			await connectRouterOs(fixture(), 'back', REST)
		];
		// RouterOS may count a device only when it signs out.
		expect((await setOffers(REST, { ...DATA, max_devices: 2 })).detail).toContain('only for 1 device');
		offer = (await setOffers(REST, { ...DATA, max_devices: 1 })).ids[0] ?? 0;
	});
	afterEach(() => hotspots.forEach((hotspot) => hotspot.heal()));
	afterAll(() => Promise.all(hotspots.map((hotspot) => hotspot.stop())));

	const limitsOf = (user: string) =>
		hotspots.map((hotspot) => Number(hotspot.user(user)?.['limit-bytes-total'] ?? 0) / MB);
	async function buy(more: { offer_id?: number; extends_session_id?: number }) {
		const session = await order({ router_id: REST, ...more });
		const name = `s${more.extends_session_id ?? session.id}`;
		await eventually('they know the user', async () => hotspots.every((one) => one.user(name) !== null));
		return session.id;
	}

	it('get the limit, add up what their users used, and get more with added data', async () => {
		const { server } = fixture();
		const [front, back] = hotspots;
		const id = await buy({ offer_id: offer });
		const user = `s${id}`;
		expect(limitsOf(user)).toEqual([100, 100]);
		front?.use(user, 30 * MB);
		back?.use(user, 50 * MB);
		await server.advance(MINUTE);
		await used(id, 80);
		expect(await dataOf(id)).toMatchObject({ status: 'active', data_left_mb: 20 });

		await buy({ offer_id: offer, extends_session_id: id });
		await eventually('both have 120 MB left', async () => limitsOf(user).join() === '150,170');
		front?.use(user, 120 * MB);
		await server.advance(2 * MINUTE);
		await isUsedUp(id);
		await eventually('both have removed the user', async () =>
			hotspots.every((hotspot) => hotspot.user(user) === null)
		);
	});

	it('count a user that began again at zero, and change nothing while one does not answer', async () => {
		const { server } = fixture();
		const [front] = hotspots;
		const id = await buy({ offer_id: offer });
		front?.use(`s${id}`, 40 * MB);
		await server.advance(MINUTE);
		await used(id, 40);
		front?.byHand(`s${id}`, { 'bytes-in': '0', 'bytes-out': '10000000' });
		await server.advance(MINUTE);
		await used(id, 50);
		front?.fail('down');
		const before = front?.asked.length ?? 0;
		await server.advance(MINUTE);
		await eventually('it is asked in vain', async () => (front?.asked.length ?? 0) > before);
		expect(await dataOf(id)).toMatchObject({ status: 'active', data_used_mb: 50 });
	});

	it('are refused as long as one does not keep the limit', async () => {
		const [front] = hotspots;
		front?.ignore('limit-bytes-total');
		const id = await buy({ offer_id: offer });
		const error = await eventually('it was refused', async () => {
			const [row] = await fixture().sql.all(
				'select problem from admissions where pass_id = ? and problem is not null',
				id
			);
			return row?.['problem'];
		});
		expect(error).toBe(`RouterOS did not keep the data limit of the user "s${id}".`);
		front?.ignore(null);
	});

	it('are not asked for the data of a pass without a limit', async () => {
		const id = await buy({});
		expect(limitsOf(`s${id}`)).toEqual([0, 0]);
		const { sql } = fixture();
		await eventually('nothing is to do before its end', async () => {
			const early = await sql.count(
				`select count(*) from admissions join passes on passes.id = pass_id
					where pass_id = ? and (allowed_at is null or check_at is not null)`,
				id
			);
			return early === 0;
		});
	});

	it('have a profile for each speed, which comes back after a change by hand', async () => {
		const [both] = await sell(REST, BOTH);
		const buyLimited = () => buy(both === undefined ? {} : { offer_id: both });
		const [front] = hotspots;
		const rate = () => front?.rateOf(limited);
		const limited = `s${await buyLimited()}`;
		expect(rate()).toBe('512k/2000k');
		expect(front?.rateOf(`s${await buy({})}`)).toBeNull();
		const profile = front?.user(limited)?.['profile'] ?? '';
		front?.setRate(profile, '512k/2M');
		await buyLimited();
		expect(rate()).toBe('512k/2M');
		front?.setRate(profile, '10M/10M');
		await buyLimited();
		expect(rate()).toBe('512k/2000k');
	});
});

describe('a UniFi console', () => {
	let unifi: UniFiConsole;
	beforeAll(async () => {
		unifi = await connectUniFi(fixture());
	});
	afterAll(() => unifi.stop());
	const reads = () => unifi.asked.filter((line) => /^GET .*\/clients\/[^/]+$/.test(line)).length;

	it('gets the data that is left plus what it can use between two reads, and the end', async () => {
		expect((await setOffers(UNIFI, DATA)).status).toBe(200);
		const mac = newMac();
		unifi.join(mac);
		const { sessionId: id } = await limited(DATA, () => buyAtUniFi(fixture(), mac));
		await eventually('it is in', async () => unifi.isIn(mac));
		expect(unifi.megabytesOf(mac)).toBe(250);
		unifi.use(mac, 60 * MB);
		await fixture().server.advance(MINUTE);
		await used(id, 60);
		await nextReadPlanned();
		// A device that left the Wi-Fi is not known there.
		unifi.leave(mac);
		await fixture().server.advance(MINUTE);
		await nextReadPlanned();
		unifi.join(mac);
		expect(unifi.isIn(mac)).toBe(true);
		unifi.use(mac, 45 * MB);
		await fixture().server.advance(MINUTE);
		await isUsedUp(id);
		await eventually('it is out', async () => !unifi.isIn(mac));
		expect(await dataOf(id)).toMatchObject({ data_used_mb: 105, data_left_mb: 0 });
	});

	it('is read before each new request, so a buyer who reloads cannot avoid the limit', async () => {
		const mac = newMac();
		unifi.join(mac);
		const before = reads();
		const { sessionId: id, person, path } = await limited(DATA, () => buyAtUniFi(fixture(), mac));
		await eventually('it is in', async () => unifi.isIn(mac));
		// The first read comes with the start of its time, and the next one 15 seconds later.
		await eventually('it was read', async () => reads() > before);
		unifi.use(mac, 60 * MB);
		await person.raw(`${path}?visit=${await visitOf(person, mac)}`);
		await eventually('it is authorized again', async () => unifi.grantsOf(mac) === 2);
		await used(id, 60);
	});

	it('is read once more before a pass moves to another device', async () => {
		const [first, second] = [newMac(), newMac()];
		for (const mac of [first, second]) unifi.join(mac);
		const before = reads();
		const { sessionId: id, person, path } = await limited(DATA, () => buyAtUniFi(fixture(), first));
		await eventually('it is in', async () => unifi.isIn(first));
		// As above: the next read is due in 15 seconds.
		await eventually('it was read', async () => reads() > before);
		unifi.use(first, 60 * MB);
		const other = await person.get(`${path}?visit=${await visitOf(person, second)}`);
		await person.post(`${other.path}?/move`);
		await eventually('the second one is in', async () => unifi.isIn(second) && !unifi.isIn(first));
		await used(id, 60);
		unifi.use(second, 45 * MB);
		await fixture().server.advance(MINUTE);
		await isUsedUp(id);
	});

	it('counts for the pass that was let in last, if a device has two', async () => {
		const mac = newMac();
		unifi.join(mac);
		const { sessionId: first } = await limited(DATA, () => buyAtUniFi(fixture(), mac));
		await eventually('it is in', async () => unifi.isIn(mac));
		const { sessionId: second } = await limited(DATA, () => buyAtUniFi(fixture(), mac));
		await eventually('it is authorized again', async () => unifi.grantsOf(mac) === 2);
		for (const total of [30, 60]) {
			await nextReadPlanned();
			unifi.use(mac, 30 * MB);
			await fixture().server.advance(MINUTE);
			await used(second, total);
		}
		expect(await dataOf(first)).toMatchObject({ data_used_mb: null, data_left_mb: null });
	});

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
	});
});

/** 100 MB in units of 1,024 bytes, rounded up. */
const QUOTA = 97_657;

describe('openNDS with a BinAuth script', () => {
	let gateway: Registered;
	beforeAll(async () => {
		gateway = await registerGateway(fixture().server, 'opennds', { loginHost: LOGIN_HOST, router: NDS });
	});

	/** Reports the end of a stay, as the script does. */
	async function report(device: NdsDevice, pass: number, bytes: string[]) {
		const [bytes_in = '', bytes_out = ''] = bytes;
		const custom = base64(`s${pass}`);
		const fields = { method: 'downquota_deauth', bytes_in, bytes_out, custom };
		const { status } = await callBinauth(fixture().server.url, gateway, device, fields);
		expect(status).toBe(204);
	}

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

	it('gets what is left at each sign-in, and reports what was used', async () => {
		const device = newDevice();
		const pass = await buyAtNds(gateway, device, DATA);
		const quotas = async (one: NdsDevice) => {
			const words = (await runScript(one, pass)).split(' ');
			return words.slice(3).map(Number);
		};
		expect(await quotas(device)).toEqual([QUOTA, QUOTA]);
		// The second time, the response to the script was lost, and its wget has sent the report again.
		for (let times = 1; times <= 2; times += 1) {
			await report(device, pass, ['30000000', '10000000']);
			await used(pass, 40);
			await fixture().server.advance(20 * MINUTE);
		}
		await report(device, pass, ['x', '-5']);
		expect(await quotas(device)).toEqual([58_594, 58_594]);
		await report(device, pass, [String(58_594 * 1024), '0']);
		await isUsedUp(pass);
		expect(await runScript(device, pass)).toBe('');

		// It ends each device on its own: nothing would end the others of a pass.
		expect((await setOffers(NDS, { ...DATA, max_devices: 2 })).detail).toContain('only for 1 device');
		expect((await setOffers(NDS, { ...DATA, max_devices: 1 })).status).toBe(200);
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

it('of level 4 fetches the speed and what is left with the minutes', async () => {
	const gateway = await registerGateway(fixture().server, 'opennds', {
		...{ loginHost: LOGIN_HOST, router: POLL, more: ['--level', '4'] }
	});
	const limits = { ...DATA, speed_down_kbps: 2000, speed_up_kbps: 512 };
	expect((await setOffers(POLL, { ...limits, max_devices: 1 })).status).toBe(200);
	const device = newDevice();
	const pass = await buyAtNds(gateway, device, limits);
	const items = await waitingAt(gateway);
	expect(items).toContain(`* ${rhidOf(gateway, device)} `);
	expect(items).toContain(` 512 2000 ${QUOTA} ${QUOTA} ${base64(`s${pass}`)}`);
});

describe('a router that sells a speed', () => {
	const add = (...options: string[]) => cli(['gateways', 'add', gatewayName(), ...options], fixture().server);

	it('has no gateway that cannot hold it, and keeps its last one', async () => {
		const { name } = await registerRadius(fixture(), {
			...{ kind: 'mikrotik', access: 'portal_login', router: WIFI }
		});
		await fixture().sql.run("update routers set access_kind = 'wpa_personal_per_client' where id = ?", WIFI);
		await sell(WIFI, DOWN);
		const added = await add('--router', String(WIFI), '--kind', 'hostapd');
		expect(added.code).not.toBe(0);
		expect(added.stderr).toContain(`router ${WIFI} sells "Hour 0" with a limit.`);
		expect(added.stderr).toContain('cannot limit the speed');
		const removed = await cli(['gateways', 'remove', name], fixture().server);
		expect(removed.code).not.toBe(0);
		expect(removed.stderr).toContain('nothing limits the speed');
		expect(await fixture().sql.count('select count(*) from gateways where router_id = ?', WIFI)).toBe(1);
		await setOffers(WIFI);
		expect((await add('--router', String(WIFI), '--kind', 'hostapd')).code).toBe(0);
		expect((await cli(['gateways', 'remove', name], fixture().server)).code).toBe(0);
		expect((await setOffers(WIFI, DOWN)).detail).toContain('(hostapd) cannot limit the speed');
	});

	it('keeps a gateway that holds it when the gateway is changed', async () => {
		const { name } = await registerRadius(fixture(), {
			...{ kind: 'mikrotik', access: 'portal_login', router: 21 }
		});
		await sell(21, DOWN);
		const moved = await cli(['gateways', 'set', name, '--router', '20'], fixture().server);
		expect(moved.code).not.toBe(0);
		expect(moved.stderr).toContain('nothing limits the speed');
		await setOffers(21);
		expect((await cli(['gateways', 'set', name, '--router', '20'], fixture().server)).code).toBe(0);
	});
});

describe('a router that sells data', () => {
	const [HOTSPOT, ENTERPRISE] = [22, 23];
	const run = async (...command: string[]) => {
		const { code, stderr } = await cli(command, fixture().server);
		expect(code).not.toBe(0);
		return stderr;
	};

	it('has gateways that report by RADIUS and can be sent Disconnect-Requests', async () => {
		const { name } = await registerRadius(fixture(), {
			...{ kind: 'mikrotik', access: 'portal_login', router: HOTSPOT }
		});
		expect((await setOffers(HOTSPOT, DATA)).detail).toContain('only with an address for Disconnect-Requests');
		expect((await cli(['gateways', 'set', name, '--nas', '10.8.0.22'], fixture().server)).code).toBe(0);
		await sell(HOTSPOT, DATA);
		const sold = `router ${HOTSPOT} sells "Hour 0" with a limit.`;
		expect(await run('gateways', 'set', name, '--nas', '')).toContain(sold);
		// The end of a pass is all that EAP passes on.
		const eap = await run('routers', 'access', String(HOTSPOT), '--kind', 'wpa_enterprise');
		expect(eap).toMatch(
			/^kind: router 22 sells "Hour 0" with a limit\. .* holds no limits with wpa_enterprise\./
		);
		// An offer from before, which its gateway does not hold, hinders no change that leaves it as it is.
		await fixture().sql.run("update routers set access_kind = 'wpa_enterprise' where id = ?", HOTSPOT);
		const other = ['gateways', 'set', name, '--nas', '10.8.0.32'];
		expect(await cli(other, fixture().server)).toMatchObject({ code: 0 });
		const kind = ['routers', 'access', String(HOTSPOT), '--kind', 'portal_login'];
		expect(await cli(kind, fixture().server)).toMatchObject({ code: 0 });
		expect(await run('gateways', 'set', name, '--nas', '')).toContain(sold);
		await setOffers(HOTSPOT);
	});

	it('knows whose data it is', async () => {
		await registerRadius(fixture(), {
			...{ kind: 'hostapd', access: 'wpa_personal_per_client', router: ENTERPRISE, nas: '10.8.0.23' }
		});
		expect((await setOffers(ENTERPRISE, DATA)).detail).toContain('only with wpa_enterprise');
		const access = ['routers', 'access', String(ENTERPRISE), '--kind'];
		expect((await cli([...access, 'wpa_enterprise'], fixture().server)).code).toBe(0);
		await sell(ENTERPRISE, DATA);
		expect(await run(...access, 'wpa_personal_per_client')).toMatch(/^kind: .*only with wpa_enterprise/);
		await fixture().sql.run(`update routers set access_kind = 'shared_password' where id = ?`, ENTERPRISE);
		expect((await setOffers(ENTERPRISE, DATA)).detail).toContain('Everybody has the same password');
	});
});
