/** Between FreeRADIUS and Airtill: signatures, tokens, accounting, outages and crowds. */
import { describe, expect, it } from 'vitest';
import { cpuOf } from '../bench/processes.ts';
import { printedConfig } from '../support/gateways/gateways.ts';
import { radclient, startFreeRadius } from '../support/lab/freeradius.ts';
import { newMac, useRadius } from '../support/lab/use-radius.ts';
import { eventually } from '../support/server/fixture.ts';

const { fixture, at, buy, signIn, askKeys } = useRadius();

/** 16 bytes, which radclient has checked against the secret: it takes no answer whose signature is wrong. */
const SIGNATURE = /^0x(?!0{32})[0-9a-f]{32}$/;

it('every answer is signed, as RouterOS 7.15 and hostapd may insist on', async () => {
	const pass = await buy('hotspot');
	const [mac, other] = [newMac(), newMac()];
	const hotspotPass = { ...pass, mac };
	const replies = [
		await signIn('hotspot', hotspotPass),
		await signIn('hotspot', hotspotPass, 'CHAP-Password'),
		await signIn('hotspot', { ...hotspotPass, password: `${pass.password}x` }),
		await signIn('hotspot', { ...hotspotPass, user: 'somebody' }),
		await signIn('hotspot', { ...pass, mac: other }),
		await signIn('enterprise', hotspotPass)
	];
	expect(replies.map(({ kind }) => kind)).toEqual([
		...['accept', 'accept'],
		...['reject', 'reject', 'reject', 'reject']
	]);
	for (const { attributes, text } of replies) {
		expect(attributes['Message-Authenticator'], text).toEqual([expect.stringMatching(SIGNATURE)]);
	}
	await buy('personal');
	const keys = await askKeys('020000000062');
	expect(keys.kind, keys.text).toBe('accept');
	expect(keys.attributes['Message-Authenticator']).toEqual([expect.stringMatching(SIGNATURE)]);
});

it('a wrong token is refused, and nothing that a device says gets out of its place', async () => {
	const user = 's1","mac":"","user":"s2';
	expect((await signIn('hotspot', { user, password: 'x', mac: '"}' })).kind).toBe('reject');
	const parts = (await printedConfig(fixture().server, at('hotspot').gateway.name)).map((part) => ({
		...part,
		text: part.text.replaceAll(at('hotspot').gateway.token, 'A'.repeat(at('hotspot').gateway.token.length))
	}));
	const other = await startFreeRadius(parts);
	try {
		const pass = await buy('hotspot');
		const mac = newMac();
		expect((await signIn({ ...at('hotspot'), radius: other }, { ...pass, mac })).kind).toBe('reject');
		expect((await signIn('hotspot', { ...pass, mac })).kind).toBe('accept');
	} finally {
		await other.stop();
	}
});

it('while Airtill is down nobody comes in, and then they do', async () => {
	const pass = await buy('hotspot');
	const login = { ...pass, mac: newMac() };
	await fixture().server.kill();
	const began = performance.now();
	expect((await signIn('hotspot', login)).kind).toBe('reject');
	expect(performance.now() - began).toBeLessThan(3_000);
	const start = { 'Acct-Status-Type': 'Start', 'Acct-Session-Id': 'while-down', 'User-Name': pass.user };
	// No answer: the gateway sends it again.
	expect((await radclient(at('hotspot'), 'acct', start)).kind).toBe('none');
	await fixture().server.restart();
	await eventually('it signs in again', async () => (await signIn('hotspot', login)).kind === 'accept');
	expect((await radclient(at('hotspot'), 'acct', start)).kind).toBe('accounting');
});

describe('accounting', () => {
	const report = (
		pass: { user: string },
		id: string,
		status: string,
		more: Record<string, string | number> = {}
	) =>
		radclient(at('hotspot'), 'acct', {
			'Acct-Status-Type': status,
			'Acct-Session-Id': id,
			'User-Name': pass.user,
			'NAS-Identifier': 'stand-in',
			...more
		});
	const row = async (id: string) =>
		(await fixture().sql.all('select * from connections where acct_session_id = ?', id))[0];

	it('fills the books once, however often a report comes', async () => {
		const pass = await buy('hotspot');
		const mac = newMac();
		const own = { 'Calling-Station-Id': mac, 'Framed-IP-Address': '10.5.50.9' };
		const seconds = Math.floor(fixture().server.now() / 1000);
		const stamp = { 'Event-Timestamp': seconds - 300 + 120 };
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
			nas_address: at('hotspot').address,
			nas_identifier: 'stand-in',
			bytes_in: 2 ** 32 + 9,
			bytes_out: 1000,
			stop_cause: 'User-Request'
		});
		expect(books[0]?.['stopped_at']).not.toBeNull();
		const [gateway] = await fixture().sql.all(
			'select * from gateways where name = ?',
			at('hotspot').gateway.name
		);
		expect(gateway?.['seen_at']).not.toBeNull();
		// Three minutes behind, as its stamps say.
		expect(Math.abs(Number(gateway?.['clock_offset_ms']) + 180_000)).toBeLessThan(15_000);
	});

	it('a device that has left gives way', async () => {
		const pass = await buy('hotspot');
		const [first, second] = [newMac(), newMac()];
		expect((await signIn('hotspot', { ...pass, mac: first })).kind).toBe('accept');
		await report(pass, 'leaves', 'Start', { 'Calling-Station-Id': first });
		expect((await signIn('hotspot', { ...pass, mac: second })).kind).toBe('reject');
		await report(pass, 'leaves', 'Stop', { 'Calling-Station-Id': first });
		expect((await signIn('hotspot', { ...pass, mac: second })).kind).toBe('accept');
		// The first one is the other one now.
		expect((await signIn('hotspot', { ...pass, mac: first })).kind).toBe('reject');
	});

	it('a connection of nobody is kept, too', async () => {
		await report({ user: 'somebody' }, 'nobodys', 'Start', { 'Calling-Station-Id': newMac() });
		expect(await row('nobodys')).toMatchObject({ pass_id: null, user_name: 'somebody' });
	});
});

it('passwords are checked fast enough for a crowd', async () => {
	const pass = await buy('hotspot');
	const login = {
		'User-Name': pass.user,
		'User-Password': pass.password,
		'Calling-Station-Id': newMac(),
		'NAS-Identifier': 'stand-in'
	};
	const LOGINS = 200;
	const { pid } = fixture().server;
	const before = cpuOf(pid);
	const { text } = await radclient(at('hotspot'), 'auth', login, [
		'-q',
		'-s',
		'-c',
		String(LOGINS),
		'-p',
		'32',
		// Asked again, as access points do: other programs may keep an answer waiting.
		'-r',
		'10'
	]);
	// Of the server's processor: other programs may keep it waiting.
	const seconds = cpuOf(pid) - before;
	const accepted = Number(/Accepted\s*:\s*(\d+)/.exec(text)?.[1]);
	console.log(`PAP: ${Math.round(accepted / seconds)} logins per second of the processor, 32 at a time`);
	expect(accepted, text.slice(-2_000)).toBe(LOGINS);
	// A venue whose devices all come back at once.
	expect(accepted / seconds).toBeGreaterThan(10);
});
