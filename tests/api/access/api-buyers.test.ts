/** API buyers at gateways whose only page is the portal: they sign in there with username and password. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { UniFiConsole } from '../../simulators/gateway/unifi-console.ts';
import { browse, type Browsing, type Page } from '../../support/pages/browsing.ts';
import { connectUniFi, newMac, UNIFI_ROUTER, unifiEntry } from '../../support/gateways/consoles.ts';
import { registerGateway } from '../../support/gateways/gateways.ts';
import { DATABASES, eventually, useFixture } from '../../support/server/fixture.ts';

/** Tries per captive session and minute. */
const TRIES = 10;
const HOTSPOT_ROUTER = 5;
const SHARED_ROUTER = 16;
const PASS = /^\/pass(\/[\w-]{24}){2}$/;

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let unifi: UniFiConsole;

	beforeAll(async () => {
		unifi = await connectUniFi(fixture());
	});
	afterEach(() => unifi.heal());
	afterAll(() => unifi.stop());

	/** An hour, bought and paid through the API. */
	async function bought(routerId = UNIFI_ROUTER, more: { extends_session_id?: number } = {}) {
		const { session } = await fixture().buy({ router_id: routerId, ...more });
		return { session, login: { user: session.access.username ?? '', password: session.password ?? '' } };
	}

	/** The page to which a device is sent, and the sign-in behind it. */
	async function arrive(path: string): Promise<{ person: Browsing; signIn: string }> {
		const person = browse(fixture().server.url);
		const page = await person.get(path);
		const signIn = /href="([^"]+\/sign-in)"/.exec(page.html)?.[1] ?? '';
		expect(signIn).not.toBe('');
		return { person, signIn };
	}
	async function deviceAt() {
		const mac = newMac();
		unifi.join(mac);
		return { mac, ...(await arrive(unifiEntry(mac))) };
	}
	const says = (person: Browsing, path: string, text: string): Promise<Page> =>
		eventually(`${path} says ${text}`, async () => {
			const page = await person.get(path);
			return page.text.includes(text) ? page : null;
		});

	it('lets a device in by username and password, and disconnects it at the end', async () => {
		const { session, login } = await bought();
		expect(session).toMatchObject({ status: 'active', access: { kind: 'portal_login' } });
		const { mac, person, signIn } = await deviceAt();

		const wrong = await person.post(signIn, { ...login, password: 'aaaa-bbbb-cccc' });
		expect([wrong.status, wrong.path]).toEqual([404, signIn]);
		expect(wrong.text).toContain('This username and password are not valid here');
		expect(unifi.isIn(mac)).toBe(false);

		// As people type it: capitals, blanks, no hyphens.
		const typed = {
			user: ` ${login.user.toUpperCase()} `,
			password: login.password.replaceAll('-', ' ').toUpperCase()
		};
		const page = await person.post(signIn, typed);
		expect(page.path).toMatch(PASS);
		expect(page.text).toContain('Your Wi‑Fi is paid until');
		expect(page.text).toMatch(/1 hour left at \d\d:\d\d/);
		await says(person, page.path, 'You are online.');
		expect(unifi.isIn(mac)).toBe(true);
		expect([60, 61]).toContain(unifi.minutesOf(mac));

		// Time that is added through the API is its guest's, too.
		await bought(UNIFI_ROUTER, { extends_session_id: session.id });
		await eventually('the new end is told', () => Promise.resolve((unifi.minutesOf(mac) ?? 0) > 90));

		await fixture().api.send('DELETE', `/v1/sessions/${session.id}`);
		await eventually(`${mac} is out`, () => Promise.resolve(!unifi.isIn(mac)));
		expect((await person.get(page.path)).status).toBe(404);
		expect((await person.post(signIn, login)).status).toBe(404);
	});

	it('asks the buyer to join while the device is not on the Wi-Fi, and lets it in then', async () => {
		const { login } = await bought();
		const mac = newMac();
		const { person, signIn } = await arrive(unifiEntry(mac));
		const { path } = await person.post(signIn, login);
		const page = await says(person, path, 'One step is missing.');
		expect(page.text).not.toContain('The Wi‑Fi is not responding.');
		unifi.join(mac);
		await fixture().server.advance(61_000);
		await says(person, path, 'You are online.');
	});

	it('lets a device in during added time; the pass has no purchase page', async () => {
		const { session, login } = await bought();
		await bought(UNIFI_ROUTER, { extends_session_id: session.id });
		await fixture().server.advance(61 * 60_000);
		const { mac, person, signIn } = await deviceAt();
		const { path } = await person.post(signIn, login);
		await says(person, path, 'You are online.');
		expect(unifi.isIn(mac)).toBe(true);
		expect((await person.get(path.replace('/pass/', '/s/'))).status).toBe(404);
	});

	it('moves to a second device on request', async () => {
		const { login } = await bought();
		const first = await deviceAt();
		const { path } = await first.person.post(first.signIn, login);
		await says(first.person, path, 'You are online.');
		const second = await deviceAt();
		const refused = await second.person.post(second.signIn, login);
		expect(refused.text).toContain('Your pass is in use on another device.');
		expect(unifi.isIn(second.mac)).toBe(false);
		// The page of the first one speaks for it all the time, and offers nothing that takes its access.
		const still = await says(first.person, path, 'You are online.');
		expect(still.text).not.toContain('Use it on this device instead');
		await second.person.post(`${refused.path}?/move`);
		await says(second.person, refused.path, 'You are online.');
		await eventually('the first one is out', () => Promise.resolve(!unifi.isIn(first.mac)));
		expect(unifi.isIn(second.mac)).toBe(true);
		const lost = await says(first.person, path, 'Your pass is in use on another device.');
		expect(lost.text).toContain('Use it on this device instead');
	});

	it('sends username and password to a hotspot, and the browser back to the page of the pass', async () => {
		const { server } = fixture();
		const { key } = await registerGateway(server, 'mikrotik-pap', {
			loginHost: '10.5.50.1',
			router: HOTSPOT_ROUTER
		});
		const { login } = await bought(HOTSPOT_ROUTER);
		const entry = { mac: newMac(), 'link-login-only': 'http://10.5.50.1/login', ip: '10.5.50.9' };
		const { person, signIn } = await arrive(`/splash/${key}?${new URLSearchParams(entry).toString()}`);
		const { path } = await person.post(signIn, login);
		expect(path).toMatch(PASS);
		const sent = new URL((await person.raw(`${path}/online`)).headers.get('location') ?? '');
		expect(sent.origin + sent.pathname).toBe('http://10.5.50.1/login');
		expect(sent.searchParams.get('username')).toBe(login.user);
		expect(sent.searchParams.get('password')).toBe(login.password);
		expect(sent.searchParams.get('dst')).toBe(`${server.url}${path}?online`);
		// The router has let it in, or not, and sends it here again with a new visit.
		const back = { ...entry, 'link-orig': `${server.url}${path}?online` };
		expect((await person.get(`/splash/${key}?${new URLSearchParams(back).toString()}`)).path).toMatch(PASS);
		await fixture().sql.run("update routers set ssid = 'New-Name' where id = ?", HOTSPOT_ROUTER);
		expect((await person.get(path)).text).toContain('New-Name');
	});

	it('refuses a pass of another router, and a shared password', async () => {
		const { login } = await bought(HOTSPOT_ROUTER);
		const { person, signIn } = await deviceAt();
		expect((await person.post(signIn, login)).status).toBe(404);
		const shared = await bought(SHARED_ROUTER);
		await fixture().sql.run('update passes set router_id = ? where id = ?', UNIFI_ROUTER, shared.session.id);
		const known = { user: `s${shared.session.id}`, password: shared.login.password };
		expect((await person.post(signIn, known)).status).toBe(404);
		expect((await person.post(signIn, { user: '', password: '' })).status).toBe(404);
		expect(
			await fixture().sql.count(
				'select count(*) from captive_sessions where bound_at is not null and client_mac is null'
			)
		).toBe(0);
	});

	it('limits wrong passwords per captive session, and the right one always passes', async () => {
		const gateway = { loginHost: '10.5.50.1', router: HOTSPOT_ROUTER };
		const { key } = await registerGateway(fixture().server, 'mikrotik-pap', gateway);
		const { login } = await bought(HOTSPOT_ROUTER);
		const visit = () => {
			const entry = { mac: newMac(), 'link-login-only': 'http://10.5.50.1/login' };
			return arrive(`/splash/${key}?${new URLSearchParams(entry).toString()}`);
		};
		const { person, signIn } = await visit();
		for (let index = 0; index < TRIES; index += 1) {
			const wrong = { ...login, password: `aaaa-bbbb-${index}` };
			expect((await person.post(signIn, wrong)).status).toBe(404);
		}
		const limited = await person.post(signIn, { ...login, password: 'aaaa-bbbb-cccc' });
		expect(limited.status).toBe(429);
		expect(limited.text).toContain('Too many attempts.');
		expect((await person.post(signIn, login)).path).toMatch(PASS);
		// All guests of a venue come from one address.
		expect((await person.post((await visit()).signIn, login)).path).toMatch(PASS);
	});
});
