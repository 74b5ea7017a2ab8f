/** How access is set: on the owner's page, and by command what that page does not offer. */
import { describe, expect, it } from 'vitest';
import { addRouter, alertOf, newOwner, signInOnOwnerPages } from '../../support/pages/owners.ts';
import { cli } from '../../support/server/cli.ts';
import { useFixture } from '../../support/server/fixture.ts';

/** A demo router with the owner's own password. */
const SHARED = 16;

const fixture = useFixture({ database: 'sqlite' });
const access = (...args: string[]) => cli(['routers', 'access', ...args], fixture().server);

describe('airtill routers access', () => {
	it('changes the settings for new orders only', async () => {
		const { api } = fixture();
		const before = await api.createSession({ router_id: 5 });
		const { stdout, stderr, code } = await access('5', '--kind', 'wpa_enterprise', '--max-devices', '3');
		expect([code, stderr]).toEqual([0, '']);
		expect(stdout).toMatch(/^Router 5 .+: wpa_enterprise, devices: 3\.$/m);
		expect(await api.createSession({ router_id: 5 })).toMatchObject({
			access: { kind: 'wpa_enterprise', max_devices: 3 }
		});
		expect(await api.getSession(before.id)).toMatchObject({ access: { kind: 'wpa_personal_per_client' } });
	});

	it('refuses invalid values with field and reason, and changes nothing', async () => {
		const { sql } = fixture();
		const rows = () => sql.all('select * from routers order by id');
		const held = await rows();
		for (const [args, reason] of [
			[['12', '--kind', 'wpa_enterprise'], /^kind: .* open .*only portal_login works there/],
			[
				['16', '--no-network-password'],
				/^network-password: buyers are shown this password: set it at \/owner/
			],
			[['5', '--max-devices', '11'], /^max-devices: use a whole number from 1 to 10/],
			[['999999', '--max-devices', '2'], /^ID: there is no router 999999/]
		] as const) {
			const { code, stdout, stderr } = await access(...args);
			expect([code, stdout], args.join(' ')).toEqual([1, '']);
			expect(stderr).toMatch(reason);
		}
		for (const args of [['5'], ['5', '--kind', 'wpa'], ['16', '--kind', 'shared_password']])
			expect(await access(...args)).toMatchObject({ code: 2, stdout: '' });
		expect(await rows()).toEqual(held);
	});

	it('becomes portal_login with a captive portal; hostapd needs its own kind', async () => {
		const { server, api } = fixture();
		const add = (name: string, router: number, ...rest: string[]) =>
			cli(['gateways', 'add', name, '--router', String(router), ...rest], server);
		const added = await add('kind-nds', 6, '--kind', 'opennds', '--login-host', '192.168.9.1');
		expect(added.stderr).toContain('Router 6 is portal_login from now on');
		expect((await api.createSession({ router_id: 6 })).access.kind).toBe('portal_login');
		const refused = await add('kind-hostapd', 6, '--kind', 'hostapd', '--nas', '192.168.9.2');
		expect(refused.code).toBe(1);
		expect(refused.stderr).toMatch(/^router: router 6 is portal_login, but hostapd/);
		const hostapd = await add('kind-hostapd', 7, '--kind', 'hostapd', '--nas', '192.168.9.2');
		expect([hostapd.code, hostapd.stderr]).toEqual([0, '']);
		expect((await access('7', '--kind', 'portal_login')).stderr).toMatch(/^kind: its gateway "kind-hostapd"/);
	});
});

describe('the owner’s page', () => {
	it('says what buyers get, and a new password reaches running passes at once', async () => {
		const held = fixture();
		const owner = await newOwner(held);
		const router = await addRouter(held, owner.accountId, { access_kind: 'shared_password' });
		expect(await held.api.getRouter(router)).toMatchObject({
			status: 'offline',
			access_kind: 'shared_password'
		});
		const [person] = await signInOnOwnerPages(held, owner.email);
		const at = `/owner/routers/${router}`;
		expect((await person.get(at)).text).toContain('so this router sells nothing. Enter the password.');

		const setPassword = (password: string) =>
			person.post(`${at}/access`, { access: 'shared_password wpa', password });
		for (const [password, reason] of [
			['short', 'Use 8 to 63 characters.'],
			['pässword', 'without accents'],
			['0aF'.repeat(21) + '1', '64'],
			['', 'password']
		] as const) {
			const refused = await setPassword(password);
			expect([password, refused.status, alertOf(refused)]).toEqual([
				password,
				400,
				expect.stringContaining(reason)
			]);
		}
		const foreign = await person.raw(`${at}/access`, {
			method: 'POST',
			headers: { origin: 'https://evil.example', 'content-type': 'application/x-www-form-urlencoded' },
			body: 'access=shared_password+wpa&password=planted-by-another'
		});
		expect(foreign.status).toBe(403);

		const saved = await setPassword('first & good');
		expect(saved.path).toBe(`${at}?done=access`);
		expect(saved.text).toContain('Airtill cannot end it, and buyers are asked to leave');
		const { session } = await held.buy({ router_id: router });
		const { session: other } = await held.buy({ router_id: SHARED });
		expect(session.password).toBe('first & good');
		await setPassword('second "better";');
		expect(await held.api.getSession(session.id)).toMatchObject({
			password: 'second "better";',
			access: { qr: 'WIFI:T:WPA;S:KISEMENTI-WIFI;P:second \\"better\\"\\;;;' }
		});
		expect((await held.api.getSession(other.id)).password).toBe(other.password);
		const stored = JSON.stringify(await held.sql.all('select * from routers where id = ?', router));
		expect(stored).not.toContain('better');
		expect((await person.get(`/owner/routers/${SHARED}/access`)).status).toBe(404);
	});
});
