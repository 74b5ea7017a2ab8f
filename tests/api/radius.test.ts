/** The endpoints that FreeRADIUS' rlm_rest calls, on both databases; tests/gateways has FreeRADIUS itself. */
import { beforeAll, describe, expect, it } from 'vitest';
import { loginUser } from '../../src/lib/login-user.ts';
import type { AccessKind } from '../../src/lib/access-kind.ts';
import { problemOf } from '../../src/lib/server/gateways/fields.ts';
import { createSecrets } from '../../src/lib/server/secrets.ts';
import { registerRadius, type RadiusGateway } from '../support/gateways.ts';
import { radiusCalls, type RadiusAnswer, type RadiusCalls } from '../support/radius-calls.ts';
import { DATABASES, eventually, SECRET, useWorld } from '../support/world.ts';

const [ROUTER, OTHER_ROUTER, PERSONAL_ROUTER] = [3, 4, 5];
const [FIRST, SECOND] = ['02:00:00:00:03:01', '02-00-00-00-03-02'];

const messageOf = ({ attributes }: RadiusAnswer) => String(attributes['reply:Reply-Message']?.value);
const secondsOf = ({ attributes }: RadiusAnswer) => Number(attributes['reply:Session-Timeout']?.value);

describe.each(DATABASES)('on %s', (database) => {
	const world = useWorld({ database, env: { RATE_LIMIT_FAILED_KEYS: '50' } });
	let gateway: RadiusGateway;
	let calls: RadiusCalls;
	let personal: RadiusCalls;

	beforeAll(async () => {
		gateway = await registerRadius(world(), { kind: 'mikrotik', access: 'portal_login', router: ROUTER });
		calls = radiusCalls(world().server.url, gateway);
		const other = { kind: 'hostapd', access: 'wpa_personal_per_client', router: PERSONAL_ROUTER } as const;
		personal = radiusCalls(world().server.url, await registerRadius(world(), other));
	});

	async function buy(router = ROUTER, duration = '1h') {
		const { session } = await world().buy({ router_id: router, duration });
		return { session, user: loginUser(session.id), password: session.password ?? '' };
	}
	const macCalls = (mac: string) => personal.authorize(mac, mac);
	const passwords = ({ attributes }: RadiusAnswer) => attributes['reply:Tunnel-Password:0']?.value ?? [];

	it('a pass is answered with its password, unexpanded, and the time left until its end', async () => {
		const { session, user, password } = await buy();
		const first = await calls.authorize(user, FIRST);
		expect(first.status).toBe(200);
		expect(first.attributes['control:Cleartext-Password']).toEqual({
			value: password,
			op: ':=',
			do_xlat: false
		});
		expect(secondsOf(first)).toBeGreaterThan(3500);
		await world().server.advance(30 * 60_000);
		// A new login does not renew it.
		await calls.postAuth(user, FIRST);
		expect(secondsOf(await calls.authorize(user.toUpperCase(), FIRST))).toBeLessThanOrEqual(1800);
		for (const attribute of Object.values(first.attributes)) {
			expect(attribute.op).toBe(':=');
			if (typeof attribute.value !== 'number') expect(attribute.do_xlat).toBe(false);
		}
		expect(String(first.attributes['reply:Class']?.value)).toBe(
			`pass-${session.id}-${Math.round(Date.parse(session.expires_at ?? '') / 1000)}`
		);
	});

	it('asking takes no place: a login that was right does', async () => {
		const { user } = await buy();
		await calls.authorize(user, FIRST);
		await calls.authorize(user, FIRST);
		expect((await calls.authorize(user, SECOND)).status).toBe(200);
		expect((await calls.postAuth(user, FIRST)).status).toBe(204);
		for (const refused of [await calls.authorize(user, SECOND), await calls.postAuth(user, SECOND)]) {
			expect(refused.status).toBe(401);
			expect(problemOf(messageOf(refused))).toBe('too-many-devices');
		}
	});

	it('of many devices at once exactly one gets the place', async () => {
		const { user, session } = await buy();
		const macs = Array.from({ length: 8 }, (_, index) => `02:00:00:00:04:0${index}`);
		const answers = await Promise.all(macs.map((mac) => calls.postAuth(user, mac)));
		expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(7).fill(401)]);
		expect(
			await world().sql.count(
				'select count(*) from access_devices where pass_id = ? and released_at is null',
				session.id
			)
		).toBe(1);
	});

	it('a login without a usable address does not escape the limit of devices', async () => {
		const { user } = await buy();
		expect((await calls.postAuth(user, 'no address')).status).toBe(204);
		await calls.account('start', 'unnamed', { user });
		for (const mac of ['', 'no address']) expect((await calls.postAuth(user, mac)).status).toBe(401);
		await calls.account('stop', 'unnamed', { user });
		expect((await calls.postAuth(user, '')).status).toBe(204);
		await calls.postAuth(user, FIRST);
		expect((await calls.postAuth(user, '')).status).toBe(401);
	});

	it('a device that is not heard of gives way after three intervals', async () => {
		const { user } = await buy();
		await calls.postAuth(user, FIRST);
		await world().server.advance(150_000);
		expect(await calls.account('interim', 'gives-way', { user, mac: FIRST })).toBe(204);
		await world().server.advance(150_000);
		expect((await calls.authorize(user, SECOND)).status).toBe(401);
		await world().server.advance(31_000);
		expect((await calls.postAuth(user, SECOND)).status).toBe(204);
	});

	it('who has no time there is refused in words that gateways hand back', async () => {
		expect((await calls.authorize('s999999')).status).toBe(404);
		expect((await calls.authorize('')).status).toBe(404);
		expect((await calls.authorize(FIRST, FIRST)).status).toBe(404);
		const elsewhere = await buy(OTHER_ROUTER);
		expect((await calls.authorize(elsewhere.user)).status).toBe(404);
		const unpaid = await world().api.createSession({ router_id: ROUTER });
		expect((await calls.authorize(loginUser(unpaid.id))).status).toBe(404);
		const ended = await buy();
		await world().api.endSession(ended.session.id);
		const short = await buy(ROUTER, '30m');
		await world().server.advance(30 * 60_000 + 1);
		for (const { user } of [ended, short]) {
			for (const refused of [await calls.authorize(user, FIRST), await calls.postAuth(user, FIRST)]) {
				expect(refused.status).toBe(401);
				expect(problemOf(messageOf(refused))).toBe('time-over');
			}
		}
	});

	it('reports in any order leave the same books', async () => {
		const { user, session } = await buy();
		const report = { user, mac: FIRST, nas_address: '10.0.0.1', nas_identifier: 'ap' };
		await calls.account('stop', 'any-order', { ...report, in: '9', cause: 'User-Request', lasted: '60' });
		await calls.account('interim', 'any-order', { ...report, in: '5', delay: '20' });
		await Promise.all([1, 2, 3].map(() => calls.account('start', 'any-order', { ...report, delay: '60' })));
		const rows = await world().sql.all(
			'select * from network_sessions where acct_session_id = ?',
			'any-order'
		);
		expect(rows).toHaveLength(1);
		expect(rows[0]).toMatchObject({ pass_id: session.id, bytes_in: 9, stop_cause: 'User-Request' });
		expect(rows[0]?.['stopped_at']).not.toBeNull();
		// It left no device in a place.
		expect((await calls.authorize(user, SECOND)).status).toBe(200);
	});

	it('a name that a gateway uses again is another connection, and one that restarts has none', async () => {
		const { user, session } = await buy();
		const report = { user, mac: FIRST, nas_address: '10.0.0.2', nas_identifier: 'ap' };
		await calls.account('start', '00000001', report);
		await calls.account('stop', '00000001', report);
		await world().server.advance(60_000);
		await calls.account('start', '00000001', report);
		const mine = 'select * from network_sessions where pass_id = ? order by id';
		const rows = await world().sql.all(mine, session.id);
		expect(rows.map(({ stopped_at: at }) => at === null)).toEqual([false, true]);
		expect((await calls.authorize(user, SECOND)).status).toBe(401);
		await calls.account('on', '', { nas_address: '10.0.0.2', nas_identifier: 'another' });
		expect((await calls.authorize(user, SECOND)).status).toBe(401);
		await calls.account('on', '', { nas_address: '10.0.0.2', nas_identifier: 'ap' });
		expect((await world().sql.all(mine, session.id)).map(({ stop_cause: cause }) => cause)[1]).toBe(
			'NAS-Reboot'
		);
		expect((await calls.authorize(user, SECOND)).status).toBe(200);
	});

	it('a name that is used again for another pass of the same device is another connection', async () => {
		const [older, newer] = [await buy(), await buy()];
		await calls.account('start', 'reused', { user: older.user, mac: FIRST });
		await calls.account('start', 'reused', { user: newer.user, mac: FIRST });
		const open = await world().sql.all(
			'select pass_id from network_sessions where acct_session_id = ? and stopped_at is null',
			'reused'
		);
		expect(open).toEqual([{ pass_id: newer.session.id }]);
		// Its place in the older one is free.
		expect((await calls.authorize(older.user, SECOND)).status).toBe(200);
		expect((await calls.authorize(newer.user, SECOND)).status).toBe(401);
	});

	it('a device that was put out, and goes on, gets its place back by signing in only', async () => {
		const { user } = await buy();
		await calls.account('start', 'goes-on', { user, mac: FIRST });
		await world().server.advance(190_000);
		expect((await calls.postAuth(user, SECOND)).status).toBe(204);
		await eventually('it could not be put out', async () => {
			const failed = `select count(*) from network_sessions where acct_session_id = ? and disconnect_state = 'failed'`;
			return (await world().sql.count(failed, 'goes-on')) === 1;
		});
		// The one in its place sleeps for longer than a place is kept.
		await world().server.advance(190_000);
		await calls.account('interim', 'goes-on', { user, mac: FIRST });
		const holder = 'select mac from access_devices where released_at is null and pass_id = ?';
		const holders = await world().sql.all(holder, Number(user.slice(1)));
		expect(holders.map(({ mac }) => mac)).toEqual(['02:00:00:00:03:02']);
		expect((await calls.postAuth(user, FIRST)).status).toBe(204);
		await calls.account('interim', 'goes-on', { user, mac: FIRST });
		expect((await calls.authorize(user, SECOND)).status).toBe(401);
	});

	it('a gateway that was thought silent is heard of when it asks about a login, right or wrong', async () => {
		const silence = () =>
			world().sql.run('update gateways set silent_since = 1 where name = ?', gateway.name);
		const isSilent = async () =>
			(await world().sql.count(
				'select count(*) from gateways where name = ? and silent_since is not null',
				gateway.name
			)) === 1;
		for (const user of ['s999999', (await buy()).user]) {
			await silence();
			await calls.authorize(user, FIRST);
			expect(await isSilent()).toBe(false);
		}
	});

	it('a pass is found by Class where the user name says nothing, at its own router only', async () => {
		const { session } = await buy();
		const className = `0x${Buffer.from(`pass-${session.id}-1900000000`).toString('hex')}`;
		await calls.account('start', 'by-class', { user: 'anonymous', mac: SECOND, class: className });
		await personal.account('start', 'by-class', { user: 'anonymous', mac: SECOND, class: className });
		const rows = await world().sql.all(
			'select pass_id, told_until from network_sessions where acct_session_id = ? order by id',
			'by-class'
		);
		expect(rows).toEqual([
			{ pass_id: session.id, told_until: 1_900_000_000_000 },
			{ pass_id: null, told_until: null }
		]);
	});

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
			radiusCalls(world().server.url, await registerRadius(world(), { kind, access, router }));
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
		const found = await world().sql.all(
			'select pass_id from network_sessions where acct_session_id = ?',
			'by-address'
		);
		expect(found).toEqual([{ pass_id: null }, { pass_id: null }, { pass_id: null }]);
		expect(passwords(await accessPoint.authorize(mac, mac.replaceAll(':', '')))).toEqual([pass.password]);
		expect((await accessPoint.postAuth(mac, mac)).status).toBe(204);
		await accessPoint.account('start', 'of-the-device', { user: mac, mac });
		expect(
			await world().sql.all('select pass_id from network_sessions where acct_session_id = ?', 'of-the-device')
		).toEqual([{ pass_id: pass.session.id }]);
	});

	it('a device that is known in an older pass may use the one that it has just bought', async () => {
		const [phone, other, third] = ['02:00:00:00:07:01', '02:00:00:00:07:02', '02:00:00:00:07:03'];
		await world().server.advance(3 * 3_600_000);
		const older = await buy(PERSONAL_ROUTER, '2h');
		await personal.account('start', 'older', { user: older.user, mac: phone });
		const newer = await buy(PERSONAL_ROUTER);
		// With a place in the older one: both are tried.
		expect(passwords(await macCalls(phone))).toEqual([older.password, newer.password]);
		await world().server.advance(4 * 60_000);
		await personal.account('start', 'older-other', { user: older.user, mac: other });
		// Its place is another one's by now: the new one is left.
		expect(passwords(await macCalls(phone))).toEqual([newer.password]);
		await personal.account('start', 'newer', { user: phone, mac: phone });
		const [row] = await world().sql.all(
			'select pass_id from network_sessions where acct_session_id = ?',
			'newer'
		);
		expect(row).toEqual({ pass_id: newer.session.id });
		// With both full, who was in one before hears why; a stranger is none.
		await world().server.advance(4 * 60_000);
		await personal.account('start', 'newer-third', { user: newer.user, mac: third });
		await personal.account('interim', 'older-other', { user: older.user, mac: other });
		expect((await macCalls(phone)).status).toBe(401);
		expect((await macCalls('02:00:00:00:07:04')).status).toBe(404);
	});

	it('of forty passes that nobody is in yet, each lets its buyer in within three tries', async () => {
		const router = 7;
		const accessPoint = radiusCalls(
			world().server.url,
			await registerRadius(world(), { kind: 'hostapd', access: 'wpa_personal_per_client', router })
		);
		const bought: Awaited<ReturnType<typeof buy>>[] = [];
		for (let some = 0; some < 5; some += 1) {
			bought.push(...(await Promise.all(Array.from({ length: 8 }, () => buy(router)))));
		}
		const ask = async (mac: string): Promise<string[]> => {
			const offered = passwords(await accessPoint.authorize(mac, mac));
			return Array.isArray(offered) ? offered : [];
		};
		const macOf = (index: number) => `02:00:00:00:08:${index.toString(16).padStart(2, '0')}`;
		/** Asks until its password is offered. @returns how often that was */
		async function tries(password: string, mac: string): Promise<number> {
			for (let count = 1; count <= 10; count += 1) {
				const offered = await ask(mac);
				expect(offered.length).toBeLessThanOrEqual(16);
				if (offered.includes(password)) return count;
			}
			return Infinity;
		}
		const counts = await Promise.all(bought.map(({ password }, index) => tries(password, macOf(index))));
		expect(Math.max(...counts)).toBe(3);
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

	it('only the RADIUS server of the gateway is answered, and guesses are limited', async () => {
		const { user } = await buy();
		const body = JSON.stringify({ user, mac: '' });
		const status = async (answer: Promise<Response>) => (await answer).status;
		expect(await status(calls.send('authorize', body, 'Bearer wrong'))).toBe(403);
		expect(await status(calls.send('authorize', body, gateway.token))).toBe(403);
		const stranger = radiusCalls(world().server.url, { ...gateway, key: 'A'.repeat(24) });
		expect(await status(stranger.send('authorize', body))).toBe(404);
		expect(await status(calls.send('authorize', '{}'))).toBe(400);
		expect(await status(calls.send('authorize', 'not json'))).toBe(400);
		expect(await status(calls.send('authorize', JSON.stringify({ user: 'x'.repeat(300), mac: '' })))).toBe(
			400
		);
		expect(await status(calls.send('authorize', ' '.repeat(20_000)))).toBe(400);
		let last = 403;
		for (let guess = 0; guess < 60 && last === 403; guess += 1) {
			last = await status(calls.send('authorize', body, `Bearer guess-${guess}`));
		}
		expect(last).toBe(429);
		// Who shows the token is not held up by them.
		expect((await calls.authorize(user)).status).toBe(200);
		expect(world().server.stderr()).not.toContain(gateway.token);
	});

	it('a change that could not be made is not answered, so that it comes again', async () => {
		const { user, session } = await buy();
		const sealed = createSecrets(SECRET).encrypt('x', 'another context');
		await world().sql.run('update sessions set password_sealed = ? where id = ?', sealed, session.id);
		expect((await calls.authorize(user)).status).toBe(500);
		await eventually('it is logged', async () => world().server.stderr().includes('a RADIUS request failed'));
	});
});
