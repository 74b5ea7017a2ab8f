/** The limits of an offer at the real openNDS 9, measured through the network beside a device without any. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHotspotLab, type HotspotLab } from '../support/lab/hotspot-lab.ts';
import { until, type Device } from '../support/lab/network-lab.ts';
import { startTraffic, type Traffic } from '../support/lab/traffic.ts';

const DOWN_KBPS = 2_000;
const UP_KBPS = 512;
const MEGABYTE = 1_000_000;
const MINUTE_MS = 60_000;

let hotspot: HotspotLab;
let phone: Device;
let traffic: Traffic;

/** Buys half an hour with these columns, as an offer sets them: the form buys it without. */
async function buyWith(device: Device, columns: string): Promise<void> {
	const { sql, open } = hotspot;
	await sql.run(
		`create trigger limited after insert on passes begin update passes set ${columns} where id = new.id; end`
	);
	const buyer = await open(device);
	await buyer.buy();
	await sql.run('drop trigger limited');
	await until('the device is online', () => device.isOnline());
	await buyer.close();
}
const newest = async (table: 'sessions' | 'passes') =>
	(await hotspot.sql.all(`select * from ${table} order by id desc limit 1`))[0];
const isUsedUp = () =>
	until(
		'the data is used',
		async () => (await newest('sessions'))?.['status_reason'] === 'data_limit_reached'
	);
/** openNDS reads its counters every 15 seconds. */
const openNdsCounts = (device: Device, bytes: number) =>
	until('openNDS has counted it', async () => {
		const shown = await hotspot.lab.ndsctl('json', device.mac);
		return Number(/"download_this_session":"(\d+)"/.exec(shown)?.[1]) * 1_024 > bytes;
	});
const goesOffline = (device: Device) =>
	until('the device is offline', async () => !(await device.isOnline()));

describe('told by ndsctl', () => {
	let free: Device;

	beforeAll(async () => {
		hotspot = await startHotspotLab(['--ndsctl', '/usr/bin/ndsctl']);
		phone = await hotspot.lab.join('02:00:00:00:00:50');
		free = await hotspot.lab.join('02:00:00:00:00:66');
		traffic = await startTraffic(hotspot.lab, [phone, free]);
	});
	afterAll(() => hotspot?.stop());

	it('limits the speed in both directions', async () => {
		await buyWith(phone, `speed_down_kbps = ${DOWN_KBPS}, speed_up_kbps = ${UP_KBPS}`);
		const limited = { down: await traffic.speed(phone, 'down'), up: await traffic.speed(phone, 'up') };
		await hotspot.lab.ndsctl('auth', free.mac, '10', '0', '0', '0', '0');
		const unlimited = { down: await traffic.speed(free, 'down'), up: await traffic.speed(free, 'up') };
		// openNDS drops packets above the limit, so that one connection stays below it.
		for (const [direction, kbps] of [
			['down', DOWN_KBPS],
			['up', UP_KBPS]
		] as const) {
			expect(limited[direction], direction).toBeGreaterThan(kbps / 40);
			expect(limited[direction], direction).toBeLessThan(kbps * 2);
			expect(unlimited[direction], direction).toBeGreaterThan(kbps * 4);
		}
	});

	it('ends the pass when its data is used', async () => {
		const second = await hotspot.lab.join('02:00:00:00:00:67');
		await buyWith(second, 'data_limit_mb = 20');
		await traffic.download(second, 5 * MEGABYTE);
		await openNdsCounts(second, 5 * MEGABYTE);
		await hotspot.server.advance(MINUTE_MS);
		await until(
			'it is counted',
			async () => Number((await newest('passes'))?.['data_used_bytes']) > 5 * MEGABYTE
		);
		expect(await newest('sessions')).toMatchObject({ status: 'active' });
		await traffic.download(second, 16 * MEGABYTE);
		await openNdsCounts(second, 20 * MEGABYTE);
		await hotspot.server.advance(MINUTE_MS);
		await isUsedUp();
		await goesOffline(second);
	});
});

describe('asking with its BinAuth script', () => {
	beforeAll(async () => {
		hotspot = await startHotspotLab([]);
		phone = await hotspot.lab.join('02:00:00:00:00:51');
		traffic = await startTraffic(hotspot.lab, [phone]);
	});
	afterAll(() => hotspot?.stop());

	it('ends a device at its quota and reports it, which ends the pass', async () => {
		await buyWith(phone, 'data_limit_mb = 1');
		await traffic.download(phone, 2 * MEGABYTE);
		await goesOffline(phone);
		await isUsedUp();
		expect(Number((await newest('passes'))?.['data_used_bytes'])).toBeGreaterThan(MEGABYTE);
	});
});
