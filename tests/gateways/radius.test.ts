/**
 * RADIUS with the real FreeRADIUS and the configuration that Airtill prints: a pass that was bought signs in, for
 * exactly the time that is left; everybody else does not.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loginUser } from '../../src/lib/domain/wifi/pass-username.ts';
import { createSecrets } from '../../src/lib/server/platform/secrets.ts';
import {
	peap,
	radclient,
	startFreeRadius,
	type FreeRadius,
	type Nas,
	type Reply
} from '../support/lab/freeradius.ts';
import { printedConfig, registerRadius, type RadiusGateway } from '../support/gateways/gateways.ts';
import { isAll } from '../support/all.ts';
import { eventually, SECRET, useFixture } from '../support/server/fixture.ts';

const HOTSPOT = { router: 3, address: '127.0.0.2' };
const ENTERPRISE = { router: 4, address: '127.0.0.3' };
const PERSONAL = { router: 5, address: '127.0.0.4' };
const CHILLI = { router: 6, address: '127.0.0.5' };
const HOUR_SECONDS = 3600;

/** Tests use devices of their own. */
let devices = 0;
const newMac = () => `02-00-00-00-01-${(devices += 1).toString(16).padStart(2, '0').toUpperCase()}`;

const fixture = useFixture({ database: 'sqlite' });
let radius: FreeRadius;
let hotspot: Nas & { gateway: RadiusGateway };
let enterprise: Nas & { gateway: RadiusGateway };
let personal: Nas & { gateway: RadiusGateway };
let chilli: Nas & { gateway: RadiusGateway };

beforeAll(async () => {
	const [first, second, third, fourth] = [
		await registerRadius(fixture(), {
			kind: 'mikrotik',
			access: 'portal_login',
			router: HOTSPOT.router,
			nas: '127.0.0.2'
		}),
		await registerRadius(fixture(), {
			kind: 'hostapd',
			access: 'wpa_enterprise',
			router: ENTERPRISE.router,
			nas: '127.0.0.3'
		}),
		await registerRadius(fixture(), {
			kind: 'hostapd',
			access: 'wpa_personal_per_client',
			router: PERSONAL.router,
			nas: '127.0.0.4'
		}),
		await registerRadius(fixture(), {
			kind: 'coova',
			access: 'portal_login',
			router: CHILLI.router,
			nas: '127.0.0.5'
		})
	];
	const parts = [];
	for (const gateway of [first, second, third, fourth])
		parts.push(...(await printedConfig(fixture().server, gateway.name)));
	radius = await startFreeRadius(parts);
	const at = (gateway: RadiusGateway, address: string) => ({
		radius,
		address,
		secret: gateway.radiusSecret,
		gateway
	});
	hotspot = at(first, HOTSPOT.address);
	enterprise = at(second, ENTERPRISE.address);
	personal = at(third, PERSONAL.address);
	chilli = at(fourth, CHILLI.address);
});
afterAll(() => radius?.stop());

const buy = async (router: number, duration = '1h') => {
	const { session } = await fixture().buy({ router_id: router, duration });
	return { session, user: loginUser(session.id), password: session.password ?? '' };
};

const secondsOf = ({ attributes, text }: Reply) => {
	const [seconds = ''] = attributes['Session-Timeout'] ?? [];
	expect(seconds, text).toMatch(/^\d+$/);
	return Number(seconds);
};

/** As a hotspot asks: the password itself, or a proof of it. */
const signIn = (nas: Nas, login: { user: string; password: string; mac: string }, how = 'User-Password') =>
	radclient(nas, 'auth', {
		'User-Name': login.user,
		[how]: login.password,
		'Calling-Station-Id': login.mac,
		'NAS-Identifier': 'stand-in'
	});

/** As an access point asks by the device, before anybody has typed a password. */
const askKeys = (mac: string) =>
	radclient(personal, 'auth', { 'User-Name': mac, 'User-Password': mac, 'Calling-Station-Id': mac });

describe('a pass that was bought', () => {
	it.each(['User-Password', 'CHAP-Password', 'MS-CHAP-Password'])('signs in by %s', async (how) => {
		const pass = await buy(HOTSPOT.router);
		const reply = await signIn(hotspot, { ...pass, mac: newMac() }, how);
		expect(reply.kind, `${reply.text}\n${radius.output()}`).toBe('accept');
		const seconds = secondsOf(reply);
		expect(seconds).toBeGreaterThan(HOUR_SECONDS - 60);
		expect(seconds).toBeLessThanOrEqual(HOUR_SECONDS);
		expect(reply.attributes['Acct-Interim-Interval']).toEqual(['60']);
		expect(Buffer.from((reply.attributes['Class']?.[0] ?? '').slice(2), 'hex').toString()).toMatch(
			new RegExp(`^pass-${pass.session.id}-\\d+$`)
		);
	});

	it('signs in by PEAP', async () => {
		const pass = await buy(ENTERPRISE.router);
		const reply = await peap(enterprise, { ...pass, mac: '02:00:00:00:00:51' });
		expect(reply.kind, `${reply.text}\n${radius.output()}`).toBe('accept');
		expect(secondsOf(reply)).toBeGreaterThan(HOUR_SECONDS - 60);
		expect(secondsOf(reply)).toBeLessThanOrEqual(HOUR_SECONDS);
		expect(reply.attributes['Class']).toEqual(['there']);
		// One name (RFC 2865, 5.44), under which reports come: not the anonymous one outside the tunnel.
		expect(reply.attributes['User-Name']).toEqual([pass.user]);
	});

	it('gives it, too, where the device is named by the user name alone', async () => {
		const pass = await buy(PERSONAL.router);
		const mac = '02-00-00-00-00-67';
		const request = { 'User-Name': mac, 'User-Password': mac };
		const reply = await radclient(personal, 'auth', request);
		expect(reply.kind, `${reply.text}\n${radius.output()}`).toBe('accept');
		expect(reply.attributes['Tunnel-Password:0']).toContain(`"${pass.password}"`);
		await fixture().api.endSession(pass.session.id);
		expect((await radclient(personal, 'auth', request)).kind).toBe('reject');
	});

	it('gives its password to an access point that asks by the device', async () => {
		const pass = await buy(PERSONAL.router);
		const mac = '020000000061';
		const reply = await askKeys(mac);
		expect(reply.kind, `${reply.text}\n${radius.output()}`).toBe('accept');
		expect(reply.attributes['Tunnel-Password:0']).toEqual([`"${pass.password}"`]);
		expect(secondsOf(reply)).toBeLessThanOrEqual(HOUR_SECONDS);
		const another = await buy(PERSONAL.router);
		const both = await askKeys(mac);
		expect(both.attributes['Tunnel-Password:0']).toEqual([`"${another.password}"`, `"${pass.password}"`]);
	});
});

describe('a speed and an amount of data that were bought', () => {
	/** Sells an hour with these limits, and buys it. */
	async function buyLimited(router: number, data_limit_mb: number) {
		const limits = { speed_down_kbps: 5000, speed_up_kbps: 512, data_limit_mb };
		const body = { offers: [{ name: 'Hour', duration: '1h', price: 400, ...limits }] };
		const { body: list } = await fixture().owner.send('PUT', `/v1/owner/routers/${router}/offers`, { body });
		const [offer] = (list as { data: { id: number }[] }).data;
		const { session } = await fixture().buy({ router_id: router, duration: '1h', offer_id: offer?.id ?? 0 });
		return { user: loginUser(session.id), password: session.password ?? '' };
	}
	const limitsOf = ({ attributes }: Reply) =>
		Object.fromEntries(
			Object.entries(attributes).filter(([name]) => /^(Mikrotik|WISPr|ChilliSpot)-/.test(name))
		);

	it('reach RouterOS however the pass signs in, as what it receives and what it sends', async () => {
		const pass = await buyLimited(HOTSPOT.router, 20_000);
		const mac = newMac();
		for (const how of ['User-Password', 'CHAP-Password', 'MS-CHAP-Password']) {
			const reply = await signIn(hotspot, { ...pass, mac }, how);
			expect(reply.kind, `${reply.text}\n${radius.output()}`).toBe('accept');
			expect(limitsOf(reply), how).toEqual({
				'Mikrotik-Rate-Limit': ['"512k/5000k"'],
				// 4 × 2^32 + 2,820,130,816 = 20 × 10^9
				'Mikrotik-Total-Limit': ['2820130816'],
				'Mikrotik-Total-Limit-Gigawords': ['4']
			});
		}
		expect(limitsOf(await signIn(hotspot, { ...pass, mac, password: 'guessed-password' }))).toEqual({});
	});

	it('reach CoovaChilli in bit/s and bytes', async () => {
		const reply = await signIn(
			chilli,
			{ ...(await buyLimited(CHILLI.router, 4_000)), mac: newMac() },
			'CHAP-Password'
		);
		expect(reply.kind, `${reply.text}\n${radius.output()}`).toBe('accept');
		expect(limitsOf(reply)).toEqual({
			'WISPr-Bandwidth-Max-Up': ['512000'],
			'WISPr-Bandwidth-Max-Down': ['5000000'],
			'ChilliSpot-Max-Total-Octets': ['4000000000']
		});
	});
});

/** 16 bytes, which radclient has checked against the secret: it takes no answer whose signature is wrong. */
const SIGNATURE = /^0x(?!0{32})[0-9a-f]{32}$/;

it('every answer is signed, as RouterOS 7.15 and hostapd may insist on', async () => {
	const pass = await buy(HOTSPOT.router);
	const [mac, other] = [newMac(), newMac()];
	const hotspotPass = { ...pass, mac };
	const replies = [
		await signIn(hotspot, hotspotPass),
		await signIn(hotspot, hotspotPass, 'CHAP-Password'),
		await signIn(hotspot, { ...hotspotPass, password: `${pass.password}x` }),
		await signIn(hotspot, { ...hotspotPass, user: 'somebody' }),
		await signIn(hotspot, { ...pass, mac: other }),
		await signIn(enterprise, hotspotPass)
	];
	expect(replies.map(({ kind }) => kind)).toEqual([
		...['accept', 'accept'],
		...['reject', 'reject', 'reject', 'reject']
	]);
	for (const { attributes, text } of replies) {
		expect(attributes['Message-Authenticator'], text).toEqual([expect.stringMatching(SIGNATURE)]);
	}
	await buy(PERSONAL.router);
	const keys = await askKeys('020000000062');
	expect(keys.kind, keys.text).toBe('accept');
	expect(keys.attributes['Message-Authenticator']).toEqual([expect.stringMatching(SIGNATURE)]);
});

describe('nobody else', () => {
	let pass: Awaited<ReturnType<typeof buy>>;
	beforeAll(async () => {
		pass = await buy(HOTSPOT.router);
	});

	it('signs in with a wrong password, as an unknown user, or at another router', async () => {
		const mac = newMac();
		for (const how of ['User-Password', 'CHAP-Password', 'MS-CHAP-Password']) {
			expect((await signIn(hotspot, { ...pass, password: `${pass.password}x`, mac }, how)).kind).toBe(
				'reject'
			);
		}
		expect((await signIn(hotspot, { ...pass, user: 's999999', mac })).kind).toBe('reject');
		expect((await signIn(hotspot, { ...pass, user: 'somebody', mac })).kind).toBe('reject');
		expect((await signIn(enterprise, { ...pass, mac })).kind).toBe('reject');
		expect((await peap(enterprise, { ...pass, mac: '02:00:00:00:00:52' })).kind).toBe('reject');
		// None of it took the place of the device that paid.
		expect((await signIn(hotspot, { ...pass, mac: newMac() })).kind).toBe('accept');
	});

	it('signs in by PEAP with a wrong password', async () => {
		const own = await buy(ENTERPRISE.router);
		const mac = '02:00:00:00:00:53';
		expect((await peap(enterprise, { ...own, password: 'guessed-password', mac })).kind).toBe('reject');
		expect((await peap(enterprise, { ...own, mac })).kind).toBe('accept');
	});

	it('signs in with another device while the first is there', async () => {
		const own = await buy(HOTSPOT.router);
		const [first, second] = [newMac(), newMac()];
		expect((await signIn(hotspot, { ...own, mac: first })).kind).toBe('accept');
		const refused = await signIn(hotspot, { ...own, mac: second });
		expect(refused.kind).toBe('reject');
		expect(refused.attributes['Reply-Message']).toEqual(['"Too many devices: another one uses this pass."']);
		// However it writes its own address, the first one is the first one.
		const same = first.toLowerCase().replaceAll('-', ':');
		expect((await signIn(hotspot, { ...own, mac: same })).kind).toBe('accept');
	});

	it('signs in by PEAP with another device while the first is there', async () => {
		const own = await buy(ENTERPRISE.router);
		expect((await peap(enterprise, { ...own, mac: '02:00:00:00:00:54' })).kind).toBe('accept');
		expect((await peap(enterprise, { ...own, mac: '02:00:00:00:00:55' })).kind).toBe('reject');
	});

	it('is heard with a wrong RADIUS secret', async () => {
		const wrong = { ...hotspot, secret: 'another-secret-altogether' };
		expect((await signIn(wrong, { ...pass, mac: newMac() })).kind).not.toBe('accept');
		const id = 'acct-wrong-secret';
		const sent = await radclient(wrong, 'acct', {
			'Acct-Status-Type': 'Start',
			'Acct-Session-Id': id,
			'User-Name': pass.user
		});
		expect(sent.kind).toBe('none');
		expect(await fixture().sql.count('select count(*) from connections where acct_session_id = ?', id)).toBe(
			0
		);
	});
});

it('a password is a text, whatever is in it', async () => {
	const pass = await buy(HOTSPOT.router);
	const { sql } = fixture();
	for (const password of ['%{User-Name}', '%{exec:/bin/true} ${name} "\\ \' %%']) {
		const sealed = createSecrets(SECRET).encrypt(password, `pass:${pass.session.id}`);
		await sql.run('update passes set password_sealed = ? where id = ?', sealed, pass.session.id);
		const mac = '02-00-00-00-00-71';
		expect((await signIn(hotspot, { ...pass, password, mac }, 'User-Password')).kind).toBe('accept');
		expect((await signIn(hotspot, { ...pass, password: pass.user, mac })).kind).toBe('reject');
	}
});

it('a wrong token is refused, and nothing that a device says gets out of its place', async () => {
	const user = 's1","mac":"","user":"s2';
	expect((await signIn(hotspot, { user, password: 'x', mac: '"}' })).kind).toBe('reject');
	const parts = (await printedConfig(fixture().server, hotspot.gateway.name)).map((part) => ({
		...part,
		text: part.text.replaceAll(hotspot.gateway.token, 'A'.repeat(hotspot.gateway.token.length))
	}));
	const other = await startFreeRadius(parts);
	try {
		const pass = await buy(HOTSPOT.router);
		const mac = newMac();
		expect((await signIn({ ...hotspot, radius: other }, { ...pass, mac })).kind).toBe('reject');
		expect((await signIn(hotspot, { ...pass, mac })).kind).toBe('accept');
	} finally {
		await other.stop();
	}
});

it('while Airtill is down nobody comes in, and then they do', async () => {
	const pass = await buy(HOTSPOT.router);
	const login = { ...pass, mac: newMac() };
	await fixture().server.kill();
	const began = performance.now();
	expect((await signIn(hotspot, login)).kind).toBe('reject');
	expect(performance.now() - began).toBeLessThan(3_000);
	const start = { 'Acct-Status-Type': 'Start', 'Acct-Session-Id': 'while-down', 'User-Name': pass.user };
	// No answer: the gateway sends it again.
	expect((await radclient(hotspot, 'acct', start)).kind).toBe('none');
	await fixture().server.restart();
	await eventually('it signs in again', async () => (await signIn(hotspot, login)).kind === 'accept');
	expect((await radclient(hotspot, 'acct', start)).kind).toBe('accounting');
});

describe('accounting', () => {
	const report = (
		pass: { user: string },
		id: string,
		status: string,
		more: Record<string, string | number> = {}
	) =>
		radclient(hotspot, 'acct', {
			'Acct-Status-Type': status,
			'Acct-Session-Id': id,
			'User-Name': pass.user,
			'NAS-Identifier': 'stand-in',
			...more
		});
	const row = async (id: string) =>
		(await fixture().sql.all('select * from connections where acct_session_id = ?', id))[0];

	it('fills the books once, however often a report comes', async () => {
		const pass = await buy(HOTSPOT.router);
		const mac = newMac();
		const own = { 'Calling-Station-Id': mac, 'Framed-IP-Address': '10.5.50.9' };
		const at = Math.floor(fixture().server.now() / 1000);
		const stamp = { 'Event-Timestamp': at - 300 + 120 };
		for (let times = 0; times < 2; times += 1) {
			expect((await report(pass, 'books', 'Start', { ...own, ...stamp })).kind).toBe('accounting');
		}
		// In less time, 4 GiB would be a false counter.
		await fixture().server.advance(120_000);
		const interim = {
			...own,
			'Event-Timestamp': stamp['Event-Timestamp'] + 120,
			'Acct-Session-Time': 120,
			'Acct-Input-Octets': 7,
			'Acct-Input-Gigawords': 1
		};
		for (let times = 0; times < 2; times += 1) await report(pass, 'books', 'Interim-Update', interim);
		const stop = {
			...interim,
			'Acct-Input-Octets': 9,
			'Acct-Output-Octets': 1000,
			'Acct-Terminate-Cause': 'User-Request'
		};
		for (let times = 0; times < 2; times += 1) await report(pass, 'books', 'Stop', stop);
		// One that was overtaken.
		await report(pass, 'books', 'Interim-Update', interim);
		const books = await fixture().sql.all('select * from connections where acct_session_id = ?', 'books');
		expect(books).toHaveLength(1);
		expect(books[0]).toMatchObject({
			pass_id: pass.session.id,
			user_name: pass.user,
			mac: mac.toLowerCase().replaceAll('-', ':'),
			ip: '10.5.50.9',
			nas_address: hotspot.address,
			nas_identifier: 'stand-in',
			bytes_in: 2 ** 32 + 9,
			bytes_out: 1000,
			stop_cause: 'User-Request'
		});
		expect(books[0]?.['stopped_at']).not.toBeNull();
		const [gateway] = await fixture().sql.all('select * from gateways where name = ?', hotspot.gateway.name);
		expect(gateway?.['seen_at']).not.toBeNull();
		// Three minutes behind, as its stamps say.
		expect(Math.abs(Number(gateway?.['clock_offset_ms']) + 180_000)).toBeLessThan(15_000);
	});

	it('a device that has left gives way', async () => {
		const pass = await buy(HOTSPOT.router);
		const [first, second] = [newMac(), newMac()];
		expect((await signIn(hotspot, { ...pass, mac: first })).kind).toBe('accept');
		await report(pass, 'leaves', 'Start', { 'Calling-Station-Id': first });
		expect((await signIn(hotspot, { ...pass, mac: second })).kind).toBe('reject');
		await report(pass, 'leaves', 'Stop', { 'Calling-Station-Id': first });
		expect((await signIn(hotspot, { ...pass, mac: second })).kind).toBe('accept');
		// The first one is the other one now.
		expect((await signIn(hotspot, { ...pass, mac: first })).kind).toBe('reject');
	});

	it('a connection of nobody is kept, too', async () => {
		await report({ user: 'somebody' }, 'nobodys', 'Start', { 'Calling-Station-Id': newMac() });
		expect(await row('nobodys')).toMatchObject({ pass_id: null, user_name: 'somebody' });
	});
});

it('passwords are checked fast enough for a crowd', async () => {
	const pass = await buy(HOTSPOT.router);
	const login = {
		'User-Name': pass.user,
		'User-Password': pass.password,
		'Calling-Station-Id': newMac(),
		'NAS-Identifier': 'stand-in'
	};
	const LOGINS = isAll ? 600 : 200;
	const began = performance.now();
	const { text } = await radclient(hotspot, 'auth', login, ['-q', '-s', '-c', String(LOGINS), '-p', '32']);
	const seconds = (performance.now() - began) / 1000;
	const accepted = Number(/Accepted\s*:\s*(\d+)/.exec(text)?.[1]);
	console.log(`PAP: ${Math.round(accepted / seconds)} logins per second, 32 at a time`);
	expect(accepted, text.slice(-2_000)).toBe(LOGINS);
	// A venue whose devices all come back at once.
	expect(accepted / seconds).toBeGreaterThan(20);
});
