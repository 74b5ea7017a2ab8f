/** The data of an offer at gateways without RADIUS accounting: what is left is sent, what was used is read. */
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
import { registerGateway, type Registered } from '../../support/gateways/gateways.ts';
import {
	base64,
	callBinauth,
	newDevice,
	rhidOf,
	runBinauth,
	waitingAt,
	type NdsDevice
} from '../../support/gateways/opennds.ts';
import { limitedSales, LOGIN_HOST } from '../../support/gateways/limited-sales.ts';
import { eventually, useFixture } from '../../support/server/fixture.ts';
import { untilQuiet } from '../../torture/time.ts';

const MB = 1_000_000;
const MINUTE = 60_000;
/** Demo routers. */
const [UNIFI, REST, NDS, POLL] = [3, 4, 7, 8];

const fixture = useFixture({ database: 'sqlite' });

const DATA = { data_limit_mb: 100 };
const { setOffers, limited, buy: order, buyAtNds } = limitedSales(fixture);

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
});

describe('openNDS', () => {
	/** 100 MB in units of 1,024 bytes, rounded up. */
	const QUOTA = 97_657;

	/** Reports the end of a stay, as the script does. */
	async function report(gateway: Registered, device: NdsDevice, pass: number, bytes: string[]) {
		const [bytes_in = '', bytes_out = ''] = bytes;
		const custom = base64(`s${pass}`);
		const fields = { method: 'downquota_deauth', bytes_in, bytes_out, custom };
		const { status } = await callBinauth(fixture().server.url, gateway, device, fields);
		expect(status).toBe(204);
	}

	it('with a BinAuth script gets what is left at each sign-in, and reports what was used', async () => {
		const gateway = await registerGateway(fixture().server, 'opennds', {
			loginHost: LOGIN_HOST,
			router: NDS
		});
		const device = newDevice();
		const pass = await buyAtNds(gateway, device, DATA);
		const quotas = async (one: NdsDevice) => {
			const words = (await runBinauth(fixture().server, gateway, one, pass)).split(' ');
			return words.slice(3).map(Number);
		};
		expect(await quotas(device)).toEqual([QUOTA, QUOTA]);
		// The second time, the response to the script was lost, and its wget has sent the report again.
		for (let times = 1; times <= 2; times += 1) {
			await report(gateway, device, pass, ['30000000', '10000000']);
			await used(pass, 40);
			await fixture().server.advance(20 * MINUTE);
		}
		await report(gateway, device, pass, ['x', '-5']);
		expect(await quotas(device)).toEqual([58_594, 58_594]);
		await report(gateway, device, pass, [String(58_594 * 1024), '0']);
		await isUsedUp(pass);
		expect(await runBinauth(fixture().server, gateway, device, pass)).toBe('');

		// It ends each device on its own: nothing would end the others of a pass.
		expect((await setOffers(NDS, { ...DATA, max_devices: 2 })).detail).toContain('only for 1 device');
		expect((await setOffers(NDS, { ...DATA, max_devices: 1 })).status).toBe(200);
	});

	it('of level 4 fetches what is left with the minutes', async () => {
		const gateway = await registerGateway(fixture().server, 'opennds', {
			...{ loginHost: LOGIN_HOST, router: POLL, more: ['--level', '4'] }
		});
		expect((await setOffers(POLL, { ...DATA, max_devices: 1 })).status).toBe(200);
		const device = newDevice();
		const pass = await buyAtNds(gateway, device, DATA);
		const items = await waitingAt(gateway);
		expect(items).toContain(`* ${rhidOf(gateway, device)} `);
		expect(items).toContain(` 0 0 ${QUOTA} ${QUOTA} ${base64(`s${pass}`)}`);
	});
});
