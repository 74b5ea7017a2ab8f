/**
 * The real openNDS 9 on a router of namespaces, with the configuration that our command prints, and the real portal in
 * a browser on a device behind it. Whether a device is online is always asked of the internet behind the router.
 */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startVenue, type Venue } from '../support/venue.ts';
import { INTERNET_SAYS, until, type Device } from '../support/site.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const MINUTE_MS = 60_000;
const SITE = 'http://captive.apple.com/hotspot-detect.html';

let venue: Venue;
let phone: Device;

beforeAll(async () => {
	venue = await startVenue();
	phone = await venue.site.join('02:00:00:00:00:50');
});
afterAll(() => venue?.stop());

/** What openNDS hands over for a device that is not online. */
async function entryOf(device: Device) {
	const { status, location } = await device.get(SITE);
	const fas = new URL(location).searchParams.get('fas')?.replaceAll(' ', '+') ?? '';
	const list = Buffer.from(fas, 'base64').toString();
	const [, hid = ''] = /hid=([0-9a-f]{64})/.exec(list) ?? [];
	return { status, location, list, hid };
}

describe('on the router itself, told by ndsctl', () => {
	it('before paying there is no internet, and every page of it is answered with the portal', async () => {
		expect(await phone.isOnline()).toBe(false);
		const { status, location, list } = await entryOf(phone);
		expect(status).toBe(307);
		expect(location).toContain(`${venue.server.url}/splash/${venue.gateway.key}?fas=`);
		expect(list).toContain(`clientmac=${phone.mac}`);
		expect(await phone.get('https://www.example.com/')).toMatchObject({ status: 0 });
	});

	it('buys in the browser, is online until the end that was paid, and cut off then', async () => {
		const { server, site } = venue;
		const buyer = await venue.open(phone);
		await buyer.buy();
		expect(await buyer.text()).toContain('You are paid until');
		expect(await phone.isOnline()).toBe(true);
		expect((await phone.get(SITE)).body).toBe(INTERNET_SAYS);

		const [row] = await venue.sql.all('select * from access_grants');
		expect(row).toMatchObject({ state: 'granted', mac: phone.mac });
		const [client] = await venue.clients();
		expect(client).toMatchObject({ mac: phone.mac, state: 'Authenticated' });
		// In whole minutes, never less than was paid.
		const surplusMs = Number(client?.session_end) * 1000 - Number(row?.['until_at']);
		expect(surplusMs).toBeGreaterThan(-1_500);
		expect(surplusMs).toBeLessThan(MINUTE_MS + 1_500);

		await server.advance(30 * MINUTE_MS - 20_000);
		expect(await phone.isOnline()).toBe(true);
		await server.advance(20_000);
		const over = performance.now();
		await until('the phone is offline', async () => !(await phone.isOnline()));
		expect(performance.now() - over).toBeLessThan(5_000);
		expect(await site.ndsctl('json')).not.toContain('Authenticated');
		await buyer.close();
	});
});
