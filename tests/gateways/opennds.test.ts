/**
 * The real openNDS 9 on a router of namespaces, with the configuration that our command prints, and the real portal in
 * a browser on a device behind it. Whether a device is online is always asked of the internet behind the router.
 */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { INTERNET_SAYS, until, type Device } from '../support/lab/network-lab.ts';
import { PROBE, startHotspotLab, type Buyer, type HotspotLab } from '../support/lab/hotspot-lab.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const MINUTE_MS = 60_000;

let hotspot: HotspotLab;
let phone: Device;

/**
 * The query of openNDS for a device that is not online. Phones probe until they are redirected: openNDS can be busy, or
 * start again after a crash.
 */
async function entryOf(device: Device) {
	const { status, location } = await until('openNDS redirects the probe', async () => {
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

/** After a crash openNDS knows nobody: the buyer enters the code on the page that comes. */
async function comesOnline(device: Device, buyer: Buyer) {
	if (!(await device.isOnline())) await buyer.returns();
	expect(await device.isOnline()).toBe(true);
}

const goesOffline = (device: Device) =>
	until('the device is offline', async () => !(await device.isOnline()));

describe('on the router itself, told by ndsctl', () => {
	let thief: Device;

	beforeAll(async () => {
		hotspot = await startHotspotLab(['--ndsctl', '/usr/bin/ndsctl']);
		phone = await hotspot.lab.join('02:00:00:00:00:50');
		thief = await hotspot.lab.join('02:00:00:00:00:66');
	});
	afterAll(() => hotspot?.stop());

	it('before paying there is no internet, and every page of it is answered with the portal', async () => {
		expect(await phone.isOnline()).toBe(false);
		const { status, location, list } = await entryOf(phone);
		expect(status).toBe(307);
		expect(location).toContain(`${hotspot.server.url}/splash/${hotspot.gateway.key}?fas=`);
		expect(list).toContain(`clientmac=${phone.mac}`);
		expect(await phone.get('https://www.example.com/')).toMatchObject({ status: 0 });
	});

	it('buys in the browser, is online until the end that was paid, and cut off then', async () => {
		const { server, lab, sql } = hotspot;
		const { hid } = await entryOf(phone);
		const buyer = await hotspot.open(phone);
		await buyer.buy();
		await comesOnline(phone, buyer);
		expect((await phone.get(PROBE)).body).toBe(INTERNET_SAYS);
		// Another device is not: neither with the sign-in of the first one, nor with one of its own making.
		expect(await thief.isOnline()).toBe(false);

		const [grant] = await sql.all('select * from grants');
		expect(grant).toMatchObject({ state: 'granted', mac: phone.mac });
		const [client] = await hotspot.clients();
		expect(client).toMatchObject({ mac: phone.mac, state: 'Authenticated' });
		const [session] = await sql.all("select * from sessions where status = 'active'");
		// In whole minutes, never less than was paid.
		const surplusMs = Number(client?.session_end) * 1000 - Number(session?.['expires_at']);
		expect(surplusMs).toBeGreaterThan(-1_500);
		expect(surplusMs).toBeLessThan(2 * MINUTE_MS);

		await server.advance(29 * MINUTE_MS);
		expect(await phone.isOnline()).toBe(true);
		await server.advance(Number(session?.['expires_at']) - 1_000 - server.now());
		await goesOffline(phone);
		expect(await lab.ndsctl('json')).not.toContain('Authenticated');
		const [over] = await sql.all('select * from grants');
		expect(over).toMatchObject({ state: 'revoked' });
		expect(Number(over?.['revoked_at']) - Number(session?.['expires_at'])).toBeLessThan(MINUTE_MS);
		await buyer.close();

		// What opened it once does not open it again.
		const secret = hotspot.gateway.secret;
		expect((await phone.get(signIn(sha256(hid + secret)))).location).toContain('/splash/');
		expect(await phone.isOnline()).toBe(false);
	});

	it('is let in again after openNDS has lost it, and ends when the buyer ends it', async () => {
		const { lab } = hotspot;
		const buyer = await hotspot.open(phone);
		await buyer.buy();
		await comesOnline(phone, buyer);
		await lab.killOpennds();
		await lab.restartFirewall();
		await lab.startOpennds();
		await comesOnline(phone, buyer);
		await buyer.end();
		await goesOffline(phone);
		await buyer.close();
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
			const { server, sql } = hotspot;
			const [own, other] = [await entryOf(thief), await entryOf(phone)];
			const forged = what.includes('hid')
				? own.list.replace(own.hid, other.hid)
				: own.list.replace(thief.mac, phone.mac);
			const buyer = await hotspot.open(thief);
			await buyer.pay(splash(forged));
			const grant = await until('openNDS knows another device', async () => {
				// After a crash openNDS knows devices that have opened a page since.
				for (const device of [thief, phone]) await device.get(PROBE);
				const [row] = await sql.all('select * from grants order by id desc limit 1');
				return String(row?.['last_error']).includes('not the one that opened the portal') && row;
			});
			expect(grant).toMatchObject({ state: 'granting' });
			expect([await phone.isOnline(), await thief.isOnline()]).toEqual([false, false]);
			// Nobody was let in, so the money goes back.
			await server.advance(11 * MINUTE_MS);
			await until('the money is on its way back', async () => {
				const [refund] = await sql.all('select * from refunds order by id desc limit 1');
				const [session] = await sql.all('select * from sessions order by id desc limit 1');
				return refund !== undefined && refund['payment_id'] === session?.['payment_id'];
			});
			expect([await phone.isOnline(), await thief.isOnline()]).toEqual([false, false]);
			await buyer.close();
		}
	);

	it('no browser is given what opens the router: it would let in whom the job has not, and for longer', async () => {
		const buyer = await hotspot.open(phone);
		await buyer.buy();
		const purchase = /^[^?#]*\/s\/[\w-]{24}/.exec(buyer.page.url())?.[0] ?? '';
		// The buyer's second device comes under the address of the first one, which is in.
		const { list } = await entryOf(thief);
		const forged = list
			.replace(thief.mac, phone.mac)
			.replace(/originurl=[^,]*/, `originurl=${encodeURIComponent(purchase)}`);
		expect((await thief.get(splash(forged))).location).toContain(new URL(purchase).pathname);
		const { location } = await thief.get(`${purchase}/online`);
		await thief.get(new URL(location, purchase).href);
		expect(await thief.isOnline()).toBe(false);
		expect(new URL(location, purchase).pathname).toBe(new URL(purchase).pathname);
		await buyer.end();
		await goesOffline(phone);
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
		await lab.killOpennds();
		await lab.restartFirewall();
		await lab.startOpennds();
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
		await comesOnline(phone, buyer);
		await buyer.end();
		await goesOffline(phone);
		await buyer.close();
	});
});

describe('without ndsctl, by BinAuth', () => {
	let other: Device;

	beforeAll(async () => {
		hotspot = await startHotspotLab([]);
		phone = await hotspot.lab.join('02:00:00:00:00:51');
		other = await hotspot.lab.join('02:00:00:00:00:67');
	});
	afterAll(() => hotspot?.stop());

	it('openNDS is told the seconds that are left and the speed, and lets nobody in for less or more', async () => {
		// As an offer sets it: the form buys half an hour without one.
		await hotspot.sql.run(
			`create trigger limited after insert on passes begin
				update passes set speed_down_kbps = 2000, speed_up_kbps = 512 where id = new.id; end`
		);
		const buyer = await hotspot.open(phone);
		await buyer.buy();
		await until('the browser has signed in', () => phone.isOnline());
		const [client] = (await hotspot.clients()).filter(({ state }) => state === 'Authenticated');
		const [session] = await hotspot.sql.all("select * from sessions where status = 'active'");
		expect(client?.mac).toBe(phone.mac);
		const differenceMs = Number(client?.session_end) * 1000 - Number(session?.['expires_at']);
		expect(Math.abs(differenceMs)).toBeLessThan(3_000);
		expect(client).toMatchObject({
			download_rate_limit_threshold: '2000',
			upload_rate_limit_threshold: '512'
		});
		await hotspot.sql.run('drop trigger limited');
		await buyer.close();
	});

	it('the right token with the user name of another purchase opens nothing', async () => {
		const { hid } = await entryOf(other);
		const [session] = await hotspot.sql.all("select * from sessions where status = 'active'");
		// Only the two sides of the secret can make it; even then the name has to be the device's own.
		const tok = sha256(hid + hotspot.gateway.secret);
		for (const user of [`s${String(session?.['pass_id'])}`, 's999999', 'x']) {
			// openNDS answers: one that has crashed lets nobody in either.
			expect((await other.get(signIn(tok, user))).location, user).toContain('/splash/');
			expect(await other.isOnline(), user).toBe(false);
		}
	});
});

describe('at level 4, by BinAuth', () => {
	beforeAll(async () => {
		hotspot = await startHotspotLab([]);
	});
	afterAll(() => hotspot?.stop());

	it('the time starts with the report of the script, not with an acknowledgement of a customer', async () => {
		const { sql, lab, gateway, server } = hotspot;
		// The list of level 4 is fetched by openNDS 10; the script and "ndsctl auth" are those of openNDS 9.
		const settings = JSON.stringify({ level: 4 });
		await sql.run('update gateways set settings = ? where name = ?', settings, gateway.name);
		const third = await lab.join('02:00:00:00:00:68');
		const { list } = await entryOf(third);
		const buyer = await hotspot.open(third);
		await buyer.pay(PROBE);
		const newest = async () => (await sql.all('select * from sessions order by id desc limit 1'))[0];
		await until('it is paid', async () => (await newest())?.['status'] === 'activating');
		const name = /gatewayname=([^,]*)/.exec(list)?.[1]?.trim() ?? '';
		const ask = (payload: string) =>
			third.get(
				`${server.url}/splash/${gateway.key}?auth_get=view&gatewayhash=${sha256(name)}` +
					`&payload=${Buffer.from(payload).toString('base64')}`
			);
		const [, item = ''] = (await ask('none')).body.split(' ');
		const words = decodeURIComponent(item).split(' ');
		expect((await ask(`* ${words[0]}`)).body).toBe('ack');
		expect(await newest()).toMatchObject({ status: 'activating', starts_at: null });
		expect(await buyer.text()).not.toContain('Your Wi‑Fi is paid until');
		expect(await third.isOnline()).toBe(false);

		await lab.ndsctl('auth', ...words);
		await until('the script has reported it', async () => (await newest())?.['status'] === 'active');
		expect(await third.isOnline()).toBe(true);
		await buyer.close();
	});
});
