/**
 * RADIUS with the real FreeRADIUS and the configuration that Airtill prints: a pass that was bought signs in, for
 * exactly the time that is left; everybody else does not.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { createSecrets } from '../../src/lib/server/platform/secrets.ts';
import { peap, radclient, type Reply } from '../support/lab/freeradius.ts';
import { newMac, PROOFS, useRadius, type Place } from '../support/lab/use-radius.ts';
import { SECRET } from '../support/server/fixture.ts';

const HOUR_SECONDS = 3600;

const { fixture, radius, at, buy, sell, signIn, askKeys } = useRadius();

const secondsOf = ({ attributes, text }: Reply) => {
	const [seconds = ''] = attributes['Session-Timeout'] ?? [];
	expect(seconds, text).toMatch(/^\d+$/);
	return Number(seconds);
};
describe('a pass that was bought', () => {
	it.each(PROOFS)('signs in by %s', async (how) => {
		const pass = await buy('hotspot');
		const reply = await signIn('hotspot', { ...pass, mac: newMac() }, how);
		expect(reply.kind, `${reply.text}\n${radius().output()}`).toBe('accept');
		const seconds = secondsOf(reply);
		expect(seconds).toBeGreaterThan(HOUR_SECONDS - 60);
		expect(seconds).toBeLessThanOrEqual(HOUR_SECONDS);
		expect(reply.attributes['Acct-Interim-Interval']).toEqual(['60']);
		expect(Buffer.from((reply.attributes['Class']?.[0] ?? '').slice(2), 'hex').toString()).toMatch(
			new RegExp(`^pass-${pass.session.id}-\\d+$`)
		);
	});

	it('signs in by PEAP', async () => {
		const pass = await buy('enterprise');
		const reply = await peap(at('enterprise'), { ...pass, mac: '02:00:00:00:00:51' });
		expect(reply.kind, `${reply.text}\n${radius().output()}`).toBe('accept');
		expect(secondsOf(reply)).toBeGreaterThan(HOUR_SECONDS - 60);
		expect(secondsOf(reply)).toBeLessThanOrEqual(HOUR_SECONDS);
		expect(reply.attributes['Class']).toEqual(['there']);
		// One name (RFC 2865, 5.44), under which reports come: not the anonymous one outside the tunnel.
		expect(reply.attributes['User-Name']).toEqual([pass.user]);
	});

	it('gives it, too, where the device is named by the user name alone', async () => {
		const pass = await buy('personal');
		const mac = '02-00-00-00-00-67';
		const request = { 'User-Name': mac, 'User-Password': mac };
		const reply = await radclient(at('personal'), 'auth', request);
		expect(reply.kind, `${reply.text}\n${radius().output()}`).toBe('accept');
		expect(reply.attributes['Tunnel-Password:0']).toContain(`"${pass.password}"`);
		await fixture().api.endSession(pass.session.id);
		expect((await radclient(at('personal'), 'auth', request)).kind).toBe('reject');
	});

	it('gives its password to an access point that asks by the device', async () => {
		const pass = await buy('personal');
		const mac = '020000000061';
		const reply = await askKeys(mac);
		expect(reply.kind, `${reply.text}\n${radius().output()}`).toBe('accept');
		expect(reply.attributes['Tunnel-Password:0']).toEqual([`"${pass.password}"`]);
		expect(secondsOf(reply)).toBeLessThanOrEqual(HOUR_SECONDS);
		const another = await buy('personal');
		const both = await askKeys(mac);
		expect(both.attributes['Tunnel-Password:0']).toEqual([`"${another.password}"`, `"${pass.password}"`]);
	});
});

describe('a speed and an amount of data that were bought', () => {
	async function buyLimited(place: Place, data_limit_mb: number) {
		const offer_id = await sell(place, { speed_down_kbps: 5000, speed_up_kbps: 512, data_limit_mb });
		return buy(place, { offer_id });
	}
	const limitsOf = ({ attributes }: Reply) =>
		Object.fromEntries(
			Object.entries(attributes).filter(([name]) => /^(Mikrotik|WISPr|ChilliSpot)-/.test(name))
		);

	it('reach RouterOS however the pass signs in, as what it receives and what it sends', async () => {
		const pass = await buyLimited('hotspot', 20_000);
		const mac = newMac();
		for (const how of PROOFS) {
			const reply = await signIn('hotspot', { ...pass, mac }, how);
			expect(reply.kind, `${reply.text}\n${radius().output()}`).toBe('accept');
			expect(limitsOf(reply), how).toEqual({
				'Mikrotik-Rate-Limit': ['"512k/5000k"'],
				// 4 × 2^32 + 2,820,130,816 = 20 × 10^9
				'Mikrotik-Total-Limit': ['2820130816'],
				'Mikrotik-Total-Limit-Gigawords': ['4']
			});
		}
		expect(limitsOf(await signIn('hotspot', { ...pass, mac, password: 'guessed-password' }))).toEqual({});
	});

	it('reach CoovaChilli in bit/s and bytes', async () => {
		const reply = await signIn(
			'chilli',
			{ ...(await buyLimited('chilli', 4_000)), mac: newMac() },
			'CHAP-Password'
		);
		expect(reply.kind, `${reply.text}\n${radius().output()}`).toBe('accept');
		expect(limitsOf(reply)).toEqual({
			'WISPr-Bandwidth-Max-Up': ['512000'],
			'WISPr-Bandwidth-Max-Down': ['5000000'],
			'ChilliSpot-Max-Total-Octets': ['4000000000']
		});
	});
});

describe('nobody else', () => {
	let pass: Awaited<ReturnType<typeof buy>>;
	beforeAll(async () => {
		pass = await buy('hotspot');
	});

	it('signs in with a wrong password, as an unknown user, or at another router', async () => {
		const mac = newMac();
		for (const how of PROOFS) {
			expect((await signIn('hotspot', { ...pass, password: `${pass.password}x`, mac }, how)).kind).toBe(
				'reject'
			);
		}
		expect((await signIn('hotspot', { ...pass, user: 's999999', mac })).kind).toBe('reject');
		expect((await signIn('hotspot', { ...pass, user: 'somebody', mac })).kind).toBe('reject');
		expect((await signIn('enterprise', { ...pass, mac })).kind).toBe('reject');
		expect((await peap(at('enterprise'), { ...pass, mac: '02:00:00:00:00:52' })).kind).toBe('reject');
		// None of it took the place of the device that paid.
		expect((await signIn('hotspot', { ...pass, mac: newMac() })).kind).toBe('accept');
	});

	it('signs in by PEAP with a wrong password', async () => {
		const own = await buy('enterprise');
		const mac = '02:00:00:00:00:53';
		expect((await peap(at('enterprise'), { ...own, password: 'guessed-password', mac })).kind).toBe('reject');
		expect((await peap(at('enterprise'), { ...own, mac })).kind).toBe('accept');
	});

	it('signs in with another device while the first is there', async () => {
		const own = await buy('hotspot');
		const [first, second] = [newMac(), newMac()];
		expect((await signIn('hotspot', { ...own, mac: first })).kind).toBe('accept');
		const refused = await signIn('hotspot', { ...own, mac: second });
		expect(refused.kind).toBe('reject');
		expect(refused.attributes['Reply-Message']).toEqual(['"Too many devices: another one uses this pass."']);
		// However it writes its own address, the first one is the first one.
		const same = first.toLowerCase().replaceAll('-', ':');
		expect((await signIn('hotspot', { ...own, mac: same })).kind).toBe('accept');
	});

	it('signs in by PEAP with another device while the first is there', async () => {
		const own = await buy('enterprise');
		expect((await peap(at('enterprise'), { ...own, mac: '02:00:00:00:00:54' })).kind).toBe('accept');
		expect((await peap(at('enterprise'), { ...own, mac: '02:00:00:00:00:55' })).kind).toBe('reject');
	});

	it('is heard with a wrong RADIUS secret', async () => {
		const wrong = { ...at('hotspot'), secret: 'another-secret-altogether' };
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
	const pass = await buy('hotspot');
	const { sql } = fixture();
	for (const password of ['%{User-Name}', '%{exec:/bin/true} ${name} "\\ \' %%']) {
		const sealed = createSecrets(SECRET).encrypt(password, `pass:${pass.session.id}`);
		await sql.run('update passes set password_sealed = ? where id = ?', sealed, pass.session.id);
		const mac = '02-00-00-00-00-71';
		expect((await signIn('hotspot', { ...pass, password, mac }, 'User-Password')).kind).toBe('accept');
		expect((await signIn('hotspot', { ...pass, password: pass.user, mac })).kind).toBe('reject');
	}
});
