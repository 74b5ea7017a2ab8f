/**
 * The real openNDS 9 on a router of namespaces, with the configuration that our command prints, and the real portal in
 * a browser on a device behind it. Whether a device is online is always asked of the internet behind the router.
 */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { INTERNET_SAYS, until, type Device } from '../support/lab/network-lab.ts';
import { PROBE, startHotspotLab, type Buyer, type HotspotLab } from '../support/lab/hotspot-lab.ts';
import { isAll } from '../support/all.ts';
import { startTraffic } from '../support/lab/traffic.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const MINUTE_MS = 60_000;
/** A busy machine takes minutes to start openNDS, and it may have to start anew. */
const LIMIT_MS = 400_000;
const LIMITS = { timeout: LIMIT_MS };
/** What a sign-in may take while the machine is busy. */
const SIGN_IN_MS = 20_000;

let hotspot: HotspotLab;
let phone: Device;

/**
 * The query of openNDS for a device that is not online. Phones probe until they are redirected: openNDS can be busy, or
 * start again after a crash.
 */
async function entryOf(device: Device) {
	const { status, location } = await hotspot.lab.untilPortal(async () => {
		const answer = await device.get(PROBE);
		return answer.location !== '' && answer;
	});
	const fas = new URL(location).searchParams.get('fas')?.replaceAll(' ', '+') ?? '';
	const list = Buffer.from(fas, 'base64').toString();
	return { status, location, list, hid: /hid=([0-9a-f]{64})/.exec(list)?.[1] ?? '' };
}

const splash = (list: string) =>
	`${hotspot.server.url}/splash/${hotspot.gateway.key}?fas=${Buffer.from(list).toString('base64')}`;

const signIn = (tok: string, user = 's1') =>
	`http://192.168.77.1:2050/opennds_auth/?tok=${tok}&custom=${Buffer.from(user).toString('base64')}` +
	`&redir=${encodeURIComponent(hotspot.server.url)}`;

/** Waits for an answer, because one that has crashed lets nobody in either. */
const untilRefused = (device: Device, url: string) =>
	until('openNDS refuses it', async () => (await device.get(url)).location.includes('/splash/'));

/** While openNDS works on another ndsctl, one of BinAuth for example, it does not do what it is asked. */
const letIn = (device: Device, ...words: string[]) =>
	until('openNDS lets the device in', async () => {
		await hotspot.lab.ndsctl('auth', ...words);
		return device.isOnline();
	});
const goesOnline = (device: Device) => until('the device is online', () => device.isOnline());
const goesOffline = (device: Device) =>
	until('the device is offline', async () => !(await device.isOnline()));

describe('at level 1, asking with its BinAuth script', LIMITS, () => {
	let thief: Device;

	beforeAll(async () => {
		hotspot = await startHotspotLab();
		phone = await hotspot.lab.join('02:00:00:00:00:50');
		thief = await hotspot.lab.join('02:00:00:00:00:66');
	}, LIMIT_MS);
	afterAll(() => hotspot?.stop());

	it('before paying there is no internet, and every page of it is answered with the portal', async () => {
		expect(await phone.isOnline()).toBe(false);
		const { status, location, list } = await entryOf(phone);
		expect(status).toBe(307);
		expect(location).toContain(`${hotspot.server.url}/splash/${hotspot.gateway.key}?fas=`);
		expect(list).toContain(`clientmac=${phone.mac}`);
		expect(await phone.get('https://www.example.com/')).toMatchObject({ status: 0 });
	});

	it('buys in the browser, and is online at the speed and until the end that were paid', async () => {
		const { sql, server } = hotspot;
		// As an offer sets it: the form buys half an hour without one.
		await sql.run(
			`create trigger limited after insert on passes begin
				update passes set speed_down_kbps = 2000, speed_up_kbps = 512 where id = new.id; end`
		);
		const { hid } = await entryOf(phone);
		const buyer = await hotspot.open(phone);
		await buyer.buy();
		await sql.run('drop trigger limited');
		await goesOnline(phone);
		expect((await phone.get(PROBE)).body).toBe(INTERNET_SAYS);
		expect(await thief.isOnline()).toBe(false);
		const [session] = await sql.all("select * from sessions where status = 'active'");
		const endMs = Number(session?.['expires_at']);
		const online = async () => (await hotspot.clients()).filter(({ state }) => state === 'Authenticated');
		const [client] = await online();
		expect(client).toMatchObject({
			mac: phone.mac,
			download_rate_limit_threshold: '2000',
			upload_rate_limit_threshold: '512'
		});
		expect(Math.abs(Number(client?.session_end) * 1000 - endMs)).toBeLessThan(SIGN_IN_MS);

		await server.advance(20 * MINUTE_MS);
		await hotspot.lab.restartRouter();
		expect(await phone.isOnline()).toBe(false);
		// The end of a new sign-in is the one that was paid. Only forward: a clock that was set back goes at half pace.
		await server.advance(endMs - MINUTE_MS - server.now());
		await buyer.returns();
		await goesOnline(phone);
		const [again] = await online();
		const leftMs = Number(again?.session_end) * 1000 - Date.now();
		expect(Math.abs(leftMs - (endMs - server.now()))).toBeLessThan(SIGN_IN_MS);
		await goesOffline(phone);
		expect(server.now()).toBeGreaterThan(endMs - SIGN_IN_MS);
		await buyer.close();

		// What opened it once does not open it again.
		const secret = hotspot.gateway.secret;
		expect((await phone.get(signIn(sha256(hid + secret)))).location).toContain('/splash/');
		expect(await phone.isOnline()).toBe(false);
	});

	it('a sign-in that was not made here lets nobody in', async () => {
		const { hid } = await entryOf(thief);
		for (const tok of [hid, sha256(hid), sha256(`${hid}guessed`), '0'.repeat(64), '']) {
			await thief.get(signIn(tok));
			expect(await thief.isOnline(), tok).toBe(false);
		}
	});

	it.each(['its MAC address', 'its hid'])(
		'an entry with %s of another device lets neither in',
		async (what) => {
			const [own, other] = [await entryOf(thief), await entryOf(phone)];
			const forged = what.includes('hid')
				? own.list.replace(own.hid, other.hid)
				: own.list.replace(thief.mac, phone.mac);
			const buyer = await hotspot.open(thief);
			// Its page would sign the thief in by itself, with its own entry: it has paid for that.
			await buyer.page.route(/\/online$/, (route) => route.abort());
			const purchase = await buyer.pay(splash(forged));
			const location = await until('the portal gives the sign-in', async () => {
				const answer = await thief.get(`${purchase}/online`);
				return answer.location.includes('/opennds_auth/') && answer.location;
			});
			for (const device of [thief, phone]) await untilRefused(device, location);
			expect([await phone.isOnline(), await thief.isOnline()]).toEqual([false, false]);
			await buyer.close();
		}
	);

	it('the right token with the user name of another purchase opens nothing', async () => {
		const { hid } = await entryOf(thief);
		const buyer = await hotspot.open(phone);
		await buyer.buy();
		const [session] = await hotspot.sql.all(
			"select * from sessions where status = 'active' order by id desc limit 1"
		);
		// Only the two sides of the secret can make it; even then the name has to be the device's own.
		const tok = sha256(hid + hotspot.gateway.secret);
		for (const user of [`s${String(session?.['pass_id'])}`, 's999999', 'x']) {
			await untilRefused(thief, signIn(tok, user));
			expect(await thief.isOnline(), user).toBe(false);
		}
		await buyer.close();
	});

	it('the portal knows no other key, and no other router', async () => {
		const { list } = await entryOf(thief);
		const stranger = splash(list).replace(hotspot.gateway.key, 'A'.repeat(hotspot.gateway.key.length));
		expect((await thief.get(stranger)).status).toBe(404);
		const elsewhere = splash(list.replace('192.168.77.1:2050', '192.168.77.66:2050'));
		expect((await thief.get(elsewhere)).status).toBe(400);
	});

	it('fails open without the guard, and with it nobody has the internet while openNDS is gone', async () => {
		const { lab } = hotspot;
		// From a clean start: a respawn finds the rules of the crashed one.
		await hotspot.lab.restartRouter();
		await lab.killOpennds();
		expect(await phone.isOnline(), 'its rules outlive it').toBe(false);
		await lab.restartFirewall();
		expect(await phone.isOnline(), 'this is what the guard is for').toBe(true);
		await lab.startGuard();
		expect(await phone.isOnline()).toBe(false);
		await lab.startOpennds();
		expect((await entryOf(phone)).status).toBe(307);
		const buyer = await hotspot.open(phone);
		await buyer.buy();
		await goesOnline(phone);
		await buyer.close();
	});
});

describe('at level 4', LIMITS, () => {
	beforeAll(async () => {
		hotspot = await startHotspotLab();
		await hotspot.setLevel4();
	}, LIMIT_MS);
	afterAll(() => hotspot?.stop());

	it('the time starts with the report of the script, not with an acknowledgement of a customer', async () => {
		const { sql, lab, askAsAuthmon } = hotspot;
		const third = await lab.join('02:00:00:00:00:68');
		const buyer = await hotspot.open(third);
		await buyer.pay(PROBE);
		const newest = async () => (await sql.all('select * from sessions order by id desc limit 1'))[0];
		await until('it is paid', async () => (await newest())?.['status'] === 'activating');
		const item = await until('the device is on the list', () => hotspot.authmonItem(third));
		expect(await askAsAuthmon(third, `* ${item[0]}`)).toBe('ack');
		expect(await newest()).toMatchObject({ status: 'activating', starts_at: null });
		expect(await buyer.text()).not.toContain('Your Wi‑Fi is paid until');
		expect(await third.isOnline()).toBe(false);

		await lab.ndsctl('auth', ...item);
		await until('the script has reported it', async () => (await newest())?.['status'] === 'active');
		expect(await third.isOnline()).toBe(true);
		await buyer.close();
	});
});

/** Measured through the network beside a device without any limit, which takes a minute of all processors. */
if (isAll)
	describe('the limits of an offer', LIMITS, () => {
		const DOWN_KBPS = 2_000;
		const UP_KBPS = 512;
		const MEGABYTE = 1_000_000;

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

		it('a device from the list of level 4 has the speed of its offer in both directions', async () => {
			hotspot = await startHotspotLab();
			try {
				await hotspot.setLevel4();
				const phone = await hotspot.lab.join('02:00:00:00:00:50');
				const free = await hotspot.lab.join('02:00:00:00:00:66');
				const traffic = await startTraffic(hotspot.lab, [phone, free]);
				await orderWith(
					phone,
					`speed_down_kbps = ${DOWN_KBPS}, speed_up_kbps = ${UP_KBPS}`,
					async (buyer) => {
						await buyer.pay(PROBE);
						const item = await until('the device is on the list', () => hotspot.authmonItem(phone));
						await letIn(phone, ...item);
					}
				);
				const limited = { down: await traffic.speed(phone, 'down'), up: await traffic.speed(phone, 'up') };
				await letIn(free, free.mac, '10', '0', '0', '0', '0');
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
	});
