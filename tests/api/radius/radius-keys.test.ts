/** Access points that ask RADIUS for the passwords of a device (PSK by RADIUS), before anybody has typed one. */
import { beforeAll, describe, expect, it } from 'vitest';
import { type AccessKind, loginUser } from '../../../src/lib/domain/wifi.ts';
import { registerRadius } from '../../support/gateways/gateways.ts';
import { radiusCalls, type RadiusAnswer, type RadiusCalls } from '../../support/gateways/radius-calls.ts';
import { DATABASES, useFixture } from '../../support/server/fixture.ts';

const PERSONAL_ROUTER = 5;

const secondsOf = ({ attributes }: RadiusAnswer) => Number(attributes['reply:Session-Timeout']?.value);
const passwords = ({ attributes }: RadiusAnswer) => attributes['reply:Tunnel-Password:0']?.value ?? [];

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let personal: RadiusCalls;

	beforeAll(async () => {
		const other = { kind: 'hostapd', access: 'wpa_personal_per_client', router: PERSONAL_ROUTER } as const;
		personal = radiusCalls(fixture().server.url, await registerRadius(fixture(), other));
	});

	async function buy(router: number, duration = '1h') {
		const { session } = await fixture().buy({ router_id: router, duration });
		return { session, user: loginUser(session.id), password: session.password ?? '' };
	}
	const macCalls = (mac: string) => personal.authorize(mac, mac);

	it('an access point gets the passwords of every pass with room, those of the device it knows first', async () => {
		const [phone, laptop] = ['02-00-00-00-05-01', '020000000502'];
		const first = await buy(PERSONAL_ROUTER);
		const alone = await macCalls(phone);
		expect(alone.attributes['control:Auth-Type']?.value).toBe('Accept');
		expect(passwords(alone)).toEqual([first.password]);
		expect(alone.attributes['reply:User-Name']?.value).toBe(first.user);
		// Nobody has typed anything yet.
		expect((await personal.postAuth(phone, phone)).status).toBe(204);
		const second = await buy(PERSONAL_ROUTER, '2h');
		const both = await macCalls(phone);
		expect(passwords(both)).toEqual([second.password, first.password]);
		expect(both.attributes['reply:User-Name']).toBeUndefined();
		expect(secondsOf(both)).toBeLessThanOrEqual(3600);
		// The report of one that came in by name makes it known.
		await personal.account('start', 'phone', { user: first.user, mac: phone });
		// Its buyer may have bought the other one too: that one is tried after its own.
		expect(passwords(await macCalls(phone))).toEqual([first.password, second.password]);
		expect(passwords(await macCalls(laptop))).toEqual([second.password]);
		await personal.account('start', 'laptop', { user: laptop, mac: laptop });
		expect(passwords(await macCalls(laptop))).toEqual([second.password]);
		expect(passwords(await macCalls(phone))).toEqual([first.password]);
		expect((await macCalls('02:00:00:00:05:03')).status).toBe(404);
	});

	it('an address is a user only for an access point, and only its own device', async () => {
		const router = 6;
		const mac = '02:00:00:00:06:01';
		const at = async (kind: 'mikrotik' | 'coova' | 'hostapd', access: AccessKind) =>
			radiusCalls(fixture().server.url, await registerRadius(fixture(), { kind, access, router }));
		const hotspots = [await at('mikrotik', 'portal_login'), await at('coova', 'portal_login')];
		// The hotspots stay where the Wi-Fi of the router gets passwords of its own.
		const accessPoint = await at('hostapd', 'wpa_personal_per_client');
		const pass = await buy(router);
		for (const hotspot of hotspots) {
			// A device that types its own address, or anything like it.
			expect((await hotspot.authorize(mac, mac)).status).toBe(404);
			expect((await hotspot.postAuth(mac, mac)).status).toBe(404);
			await hotspot.account('start', 'by-address', { user: mac, mac });
		}
		expect((await accessPoint.authorize(mac, '02:00:00:00:06:02')).status).toBe(404);
		expect((await accessPoint.authorize(mac)).status).toBe(404);
		expect((await accessPoint.postAuth(mac, '02:00:00:00:06:02')).status).toBe(404);
		await accessPoint.account('start', 'by-address', { user: '02:00:00:00:06:02', mac });
		const found = await fixture().sql.all(
			'select pass_id from connections where acct_session_id = ?',
			'by-address'
		);
		expect(found).toEqual([{ pass_id: null }, { pass_id: null }, { pass_id: null }]);
		expect(passwords(await accessPoint.authorize(mac, mac.replaceAll(':', '')))).toEqual([pass.password]);
		expect((await accessPoint.postAuth(mac, mac)).status).toBe(204);
		await accessPoint.account('start', 'of-the-device', { user: mac, mac });
		expect(
			await fixture().sql.all('select pass_id from connections where acct_session_id = ?', 'of-the-device')
		).toEqual([{ pass_id: pass.session.id }]);
	});

	it('a device that is known in an older pass may use the one that it has just bought', async () => {
		const [phone, other, third] = ['02:00:00:00:07:01', '02:00:00:00:07:02', '02:00:00:00:07:03'];
		await fixture().server.advance(3 * 3_600_000);
		const older = await buy(PERSONAL_ROUTER, '2h');
		await personal.account('start', 'older', { user: older.user, mac: phone });
		const newer = await buy(PERSONAL_ROUTER);
		// With a place in the older one: both are tried.
		expect(passwords(await macCalls(phone))).toEqual([older.password, newer.password]);
		await fixture().server.advance(4 * 60_000);
		await personal.account('start', 'older-other', { user: older.user, mac: other });
		// Its place is another one's by now: the new one is left.
		expect(passwords(await macCalls(phone))).toEqual([newer.password]);
		await personal.account('start', 'newer', { user: phone, mac: phone });
		const [row] = await fixture().sql.all(
			'select pass_id from connections where acct_session_id = ?',
			'newer'
		);
		expect(row).toEqual({ pass_id: newer.session.id });
		// With both full, who was in one before hears why; a stranger is none.
		await fixture().server.advance(4 * 60_000);
		await personal.account('start', 'newer-third', { user: newer.user, mac: third });
		await personal.account('interim', 'older-other', { user: older.user, mac: other });
		expect((await macCalls(phone)).status).toBe(401);
		expect((await macCalls('02:00:00:00:07:04')).status).toBe(404);
	});

	it('of forty passes that nobody is in yet, each lets its buyer in within three tries', async () => {
		const router = 7;
		const accessPoint = radiusCalls(
			fixture().server.url,
			await registerRadius(fixture(), { kind: 'hostapd', access: 'wpa_personal_per_client', router })
		);
		const bought: Awaited<ReturnType<typeof buy>>[] = [];
		for (let some = 0; some < 5; some += 1) {
			bought.push(...(await Promise.all(Array.from({ length: 8 }, () => buy(router)))));
		}
		const ask = async (mac: string): Promise<string[]> => {
			const offered = passwords(await accessPoint.authorize(mac, mac));
			return Array.isArray(offered) ? offered : [];
		};
		// Every device is offered all of them in three tries, whichever was bought for it.
		for (const mac of ['02:00:00:00:08:01', '02:00:00:00:08:02']) {
			const tries = [await ask(mac), await ask(mac), await ask(mac)];
			for (const offered of tries) expect(offered).toHaveLength(16);
			const all = new Set(tries.flat());
			expect(bought.filter(({ password }) => !all.has(password))).toEqual([]);
		}
		// Neither who has just bought nor who waits longest needs a second one.
		const byId = [...bought].sort((a, b) => a.session.id - b.session.id);
		const stranger = await ask('02:00:00:00:09:01');
		expect(stranger).toContain(byId[0]?.password);
		expect(stranger).toContain(byId.at(-1)?.password);

		// One that came in is offered the same again: it would not come in otherwise.
		const phone = '02:00:00:00:09:aa';
		const [first, second] = [await ask(phone), await ask(phone)];
		expect(second.filter((password) => first.includes(password))).toEqual([]);
		await accessPoint.account('start', 'phone-of-forty', { user: phone, mac: phone });
		expect((await ask(phone)).toSorted()).toEqual(second.toSorted());

		// One that had a device before has a place among them, and no more than that.
		const [used] = byId.slice(20);
		await accessPoint.account('start', 'used', { user: used?.user ?? '', mac: '02:00:00:00:09:bb' });
		await accessPoint.account('stop', 'used', { user: used?.user ?? '', mac: '02:00:00:00:09:bb' });
		const offered = await ask('02:00:00:00:09:cc');
		expect(offered).toContain(used?.password);
		expect(offered).toHaveLength(16);
	});

	it('a device that was offered several passwords takes the place of none, whatever is left when it is reported', async () => {
		const router = 3;
		const accessPoint = radiusCalls(
			fixture().server.url,
			await registerRadius(fixture(), { kind: 'hostapd', access: 'wpa_personal_per_client', router })
		);
		const ask = async (mac: string) => passwords(await accessPoint.authorize(mac, mac));
		const [first, laptop, phone] = ['02:00:00:00:0a:01', '02:00:00:00:0a:02', '02:00:00:00:0a:03'];
		const older = await buy(router, '2h');
		await accessPoint.account('start', 'quiet', { user: older.user, mac: first });
		await fixture().server.advance(4 * 60_000);
		const newer = await buy(router);
		// It joins with the password of the older pass, whose first device is heard of again before it is reported.
		expect(await ask(laptop)).toHaveLength(2);
		await accessPoint.account('interim', 'quiet', { user: older.user, mac: first });
		await accessPoint.account('start', 'laptop-of-two', { user: laptop, mac: laptop });
		expect(
			await fixture().sql.all('select pass_id from connections where acct_session_id = ?', 'laptop-of-two')
		).toEqual([{ pass_id: null }]);
		expect(await ask(phone)).toEqual([newer.password]);
	});

	it('a device whose offer a new process does not know takes no place of the pass that is left', async () => {
		const { server, api, sql } = fixture();
		const router = 4;
		const accessPoint = radiusCalls(
			server.url,
			await registerRadius(fixture(), { kind: 'hostapd', access: 'wpa_personal_per_client', router })
		);
		const [phone, stranger] = ['02:00:00:00:0b:01', '02:00:00:00:0b:02'];
		const kept = await buy(router);
		const ended = await buy(router);
		expect(passwords(await accessPoint.authorize(stranger, stranger))).toHaveLength(2);
		// It joins with the password of the pass that ends, and its access point reports that late.
		await server.kill('SIGKILL');
		await server.restart();
		await api.endSession(ended.session.id);
		await accessPoint.account('start', 'late', { user: stranger, mac: stranger });
		expect(await sql.all("select pass_id from connections where acct_session_id = 'late'")).toEqual([
			{ pass_id: null }
		]);
		expect(passwords(await accessPoint.authorize(phone, phone))).toEqual([kept.password]);
		// What names its pass is a sign.
		await accessPoint.account('start', 'named', { user: kept.user, mac: phone });
		expect(await sql.all("select pass_id from connections where acct_session_id = 'named'")).toEqual([
			{ pass_id: kept.session.id }
		]);
	});
});
