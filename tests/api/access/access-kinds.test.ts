/** How buyers get in: what the API and the pages say of each kind of access, and how it is changed. */
import { describe, expect, it } from 'vitest';
import { numberEnding } from '../../support/api/api.ts';
import { browse, signInAs } from '../../support/pages/browsing.ts';
import { buyAt } from '../../support/pages/purchase.ts';
import { cli } from '../../support/server/cli.ts';
import { PASSWORD } from '../../support/api/wire.ts';
import { eventually, useFixture } from '../../support/server/fixture.ts';
import { addRouter, alertOf, newOwner, signInOnOwnerPages } from '../../support/pages/owners.ts';

/** Demo routers of each kind. */
const OWN = 3;
const OPEN_LOGIN = 12;
const ENTERPRISE = 14;
const SHARED = 16;
const WPA_LOGIN = 17;

const fixture = useFixture({ database: 'sqlite' });
const access = (...args: string[]) => cli(['routers', 'access', ...args], fixture().server);

/** The page of an hour that was bought on a router, as soon as it runs. */
async function paidPage(router: number) {
	const { server } = fixture();
	const person = browse(server.url);
	const place = await buyAt(server.url, `/r/${router}`, numberEnding('008'));
	const page = await eventually(`${place} is active`, async () => {
		const shown = await person.get(place);
		return shown.text.includes('Your Wi‑Fi is paid until') ? shown : null;
	});
	return { person, place, page };
}

describe('the session’s access member', () => {
	it.each([
		[OWN, 'wpa_personal_per_client', null, null, 'access', /^WIFI:T:WPA;S:KISEMENTI-WIFI;P:[a-z2-9-]{14};;$/],
		[OPEN_LOGIN, 'portal_login', /^s\d+$/, null, 'network', /^WIFI:T:nopass;S:Youth-Kyebando;;$/],
		[
			WPA_LOGIN,
			'portal_login',
			/^s\d+$/,
			'rubaga-guests',
			'network',
			/^WIFI:T:WPA;S:RubagaView;P:rubaga-guests;;$/
		],
		[ENTERPRISE, 'wpa_enterprise', /^s\d+$/, null, null, null],
		[SHARED, 'shared_password', null, null, 'access', /^WIFI:T:WPA;S:Tailors-Row;P:Tailors & Friends;;$/]
	])('of router %i is %s', async (router, kind, user, network, joins, qr) => {
		const { api, buy } = fixture();
		expect((await api.createSession({ router_id: router })).access).toEqual({
			kind,
			username: null,
			network_password: null,
			qr: null,
			qr_joins: null,
			end_enforced: kind !== 'shared_password',
			max_devices: 1
		});
		const { session } = await buy({ router_id: router });
		expect(session.access).toEqual({
			kind,
			username: user === null ? null : expect.stringMatching(user),
			network_password: network,
			qr: qr === null ? null : expect.stringMatching(qr),
			qr_joins: joins,
			end_enforced: kind !== 'shared_password',
			max_devices: 1
		});
		if (kind === 'shared_password') expect(session.password).toBe('Tailors & Friends');
		else expect(session.password).toMatch(PASSWORD);
	});
});

describe('the buyer’s pages', () => {
	it('on an open hotspot show the username, and lead another device to the same page', async () => {
		const { page } = await paidPage(OPEN_LOGIN);
		expect(page.text).toMatch(/Username s\d+/);
		expect(page.text).toContain(
			'Youth-Kyebando has no password: connect to it. Then enter the username and password'
		);
		expect(page.text).toContain(
			'choose Youth-Kyebando there and sign in with the same username and password.'
		);
		expect(page.html).not.toContain('QR code to connect to Youth-Kyebando');
	});

	it('on a hotspot behind a password show that one too, and say before and after paying if the venue must be asked', async () => {
		const { page } = await paidPage(WPA_LOGIN);
		expect(page.text).toContain('Wi‑Fi password, the same for all guests rubaga-guests');
		const person = browse(fixture().server.url);
		const asks = 'This Wi‑Fi also needs a password that we do not have. Ask the venue for it before you pay.';
		for (const path of [`/r/${WPA_LOGIN}`, `/kiosk/${WPA_LOGIN}`])
			expect((await person.get(path)).html).not.toContain(asks);
		expect(await access(String(WPA_LOGIN), '--no-network-password')).toMatchObject({ code: 0, stderr: '' });
		expect((await person.get(`/r/${WPA_LOGIN}`)).text).toContain(asks);
		expect((await person.get(`/kiosk/${WPA_LOGIN}`)).html).toContain(asks);
		expect(await fixture().api.getRouter(WPA_LOGIN)).toMatchObject({ network_password_provided: false });
		const { page: without } = await paidPage(WPA_LOGIN);
		expect(without.text).toContain('Ask the venue for the Wi‑Fi password of RubagaView and connect');
		expect(without.html).not.toContain('QR code to connect to');
		const network = { access: 'portal_login wpa', from: 'portal_login wpa', password: 'rubaga-guests' };
		const owner = await signInAs(fixture().server, 'owner');
		expect((await owner.post(`/owner/routers/${WPA_LOGIN}/edit?/access`, network)).status).toBe(200);
	});

	it('for an enterprise network name the methods, and show no Wi-Fi code', async () => {
		const { page } = await paidPage(ENTERPRISE);
		expect(page.text).toMatch(/Username s\d+/);
		expect(page.text).toContain('EAP method PEAP, phase 2 MSCHAPv2');
		expect(page.text).toContain('Trust on first use');
		expect(page.html).not.toContain('QR code to connect to');
	});

	it('for the owner’s own password ask before and after paying to leave at the end', async () => {
		const person = browse(fixture().server.url);
		const asks =
			'This Wi‑Fi has one password for all guests. Please disconnect from the Wi‑Fi when your time ends.';
		expect((await person.get(`/r/${SHARED}`)).text).toContain(asks);
		expect((await person.get(`/r/${OWN}`)).text).not.toContain(asks);
		const { page, place } = await paidPage(SHARED);
		expect(page.text).toContain('Password for Tailors-Row, the same for all guests Tailors & Friends');
		expect(page.text).toContain(asks);
		expect(page.text).toContain('Your time ends at once. Please disconnect from the Wi‑Fi.');
		const receipt = (await person.get(`${place}/receipt`)).text;
		expect(receipt).toContain('Access Wi‑Fi password shared by all guests');
		// Nothing invites buyers to stay.
		const said = (await person.get(`/r/${SHARED}`)).text + page.text + receipt;
		expect(said).not.toMatch(/keeps working|stays open|cannot/);
	});

	it('on paper name the access kind', async () => {
		const person = browse(fixture().server.url);
		const joined = 'Connect to the Wi‑Fi, then sign in with the username and password that you get.';
		expect((await person.get(`/r/${OPEN_LOGIN}/poster`)).text).toContain(joined);
		expect((await person.get(`/r/${ENTERPRISE}/poster`)).text).toContain(
			'Connect to the Wi‑Fi with the username'
		);
		expect((await person.get(`/r/${OWN}/poster`)).text).toContain('Connect to the Wi‑Fi with the password');
	});
});

describe('on a hotspot whose page is the portal', () => {
	it('the code is typed there, and username and password are folded or left out', async () => {
		const { server } = fixture();
		for (const [router, kind, asks] of [
			[9, 'opennds', false],
			[10, 'mikrotik', true]
		] as const) {
			const name = `ours-${kind}`;
			const login = ['--router', String(router), '--kind', kind, '--login-host', '10.5.50.1'];
			const { code, stderr } = await cli(['gateways', 'add', name, ...login], server);
			expect(code, stderr).toBe(0);
			const { person, page } = await paidPage(router);
			const [, typed = ''] = /Your code ([0-9A-Z]{4}-[0-9A-Z]{4})/.exec(page.text) ?? [];
			expect(typed).not.toBe('');
			expect(page.text).toContain(
				'Choose “Paid already? Do not pay again. Enter your code” there and enter this code'
			);
			expect(page.text).toContain(`there and enter ${typed}. If your pass is still in use here`);
			expect(page.text).not.toContain('sign in with this username and password');
			expect(page.text.includes('If a page asks for a username and password')).toBe(asks);
			expect(/Username s\d+/.test(page.text)).toBe(asks);
			const poster = (await person.get(`/r/${router}/poster`)).text;
			expect(poster).toContain(
				'choose “Paid already? Do not pay again. Enter your code” and enter the code that you get'
			);
		}
	});
});

/** How access is set: on the owner's page, and by command what that page does not offer. */
describe('its settings', () => {
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
			expect((await access('7', '--kind', 'portal_login')).stderr).toMatch(
				/^kind: its gateway "kind-hostapd"/
			);
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
				person.post(`${at}/edit?/access`, { access: 'shared_password wpa', password });
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
			const foreign = await person.raw(`${at}/edit?/access`, {
				method: 'POST',
				headers: { origin: 'https://evil.example', 'content-type': 'application/x-www-form-urlencoded' },
				body: 'access=shared_password+wpa&password=planted-by-another'
			});
			expect(foreign.status).toBe(403);

			const saved = await setPassword('first & good');
			expect(saved.path).toBe(`${at}?done=access`);
			expect(saved.text).toContain('Airtill cannot end it, and buyers are asked to disconnect');
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
			expect((await person.get(`/owner/routers/${SHARED}/edit?/access`)).status).toBe(404);
		});
	});
});
