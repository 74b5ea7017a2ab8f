/** The limits of an offer at the real openNDS 9, measured through the network beside a device without any. */
import { expect, it } from 'vitest';
import { PROBE, startHotspotLab, type Buyer, type HotspotLab } from '../support/lab/hotspot-lab.ts';
import { until, type Device } from '../support/lab/network-lab.ts';
import { startTraffic } from '../support/lab/traffic.ts';

const DOWN_KBPS = 2_000;
const UP_KBPS = 512;
const MEGABYTE = 1_000_000;

let hotspot: HotspotLab;

/** Orders half an hour with these columns, as an offer sets them: the form orders it without. */
async function orderWith(
	device: Device,
	columns: string,
	order: (buyer: Buyer) => Promise<void>
): Promise<void> {
	const { sql, open } = hotspot;
	await sql.run(
		`create trigger limited after insert on passes begin update passes set ${columns} where id = new.id; end`
	);
	const buyer = await open(device);
	await order(buyer);
	await until('the device is online', () => device.isOnline());
	await sql.run('drop trigger limited');
	await buyer.close();
}
const newest = async (table: 'sessions' | 'passes') =>
	(await hotspot.sql.all(`select * from ${table} order by id desc limit 1`))[0];
const isUsedUp = () =>
	until(
		'the data is used',
		async () => (await newest('sessions'))?.['status_reason'] === 'data_limit_reached'
	);
const goesOffline = (device: Device) =>
	until('the device is offline', async () => !(await device.isOnline()));

it('a device from the list of level 4 has the speed of its offer in both directions', async () => {
	hotspot = await startHotspotLab();
	try {
		await hotspot.setLevel4();
		const phone = await hotspot.lab.join('02:00:00:00:00:50');
		const free = await hotspot.lab.join('02:00:00:00:00:66');
		const traffic = await startTraffic(hotspot.lab, [phone, free]);
		await orderWith(phone, `speed_down_kbps = ${DOWN_KBPS}, speed_up_kbps = ${UP_KBPS}`, async (buyer) => {
			await buyer.pay(PROBE);
			const item = await until('the device is on the list', () => hotspot.authmonItem(phone));
			await hotspot.lab.ndsctl('auth', ...item);
		});
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
	} finally {
		await hotspot.stop();
	}
});

it('at level 1 openNDS ends a device at its quota and reports it, which ends the pass', async () => {
	hotspot = await startHotspotLab();
	try {
		const phone = await hotspot.lab.join('02:00:00:00:00:51');
		const traffic = await startTraffic(hotspot.lab, [phone]);
		await orderWith(phone, 'data_limit_mb = 1', (buyer) => buyer.buy());
		await traffic.download(phone, 2 * MEGABYTE);
		await goesOffline(phone);
		await isUsedUp();
		expect(Number((await newest('passes'))?.['data_used_bytes'])).toBeGreaterThan(MEGABYTE);
	} finally {
		await hotspot.stop();
	}
});
