/** Wrong passwords: strangers are slowed down, wherever they are, and never lock the owner of the account out. */
import { describe, expect, it } from 'vitest';
import {
	browse,
	demoPassword,
	mailedLink,
	PASSWORD,
	someone,
	triesForgotten
} from '../../support/pages/browsing.ts';
import { DATABASES, useFixture } from '../../support/server/fixture.ts';

const EMAIL = 'owner@airtill.example';
const minuteMs = 60_000;

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database, env: { ADDRESS_HEADER: 'x-source' } });
	const visitor = (address: string) => {
		const { server } = fixture();
		const browser = browse(server.url);
		const signIn = (password: string, email = EMAIL) =>
			browser.post('/developer/sign-in', { email, password }, { 'x-source': address });
		return { browser, signIn, rightly: () => signIn(demoPassword(server, EMAIL)) };
	};

	it('from one network, each one after five waits twice as long, for this account', async () => {
		const stranger = visitor('192.0.2.1');
		const email = 'app@airtill.example';
		for (let count = 0; count < 5; count += 1) {
			expect((await stranger.signIn(`guess number ${count}`, email)).status).toBe(400);
		}
		const first = await stranger.signIn('guess number 5', email);
		expect(first.status).toBe(429);
		expect(first.text).toMatch(/Too many attempts\. Wait \d+ seconds?, then try again\./);
		expect(Number(first.headers.get('retry-after'))).toBeGreaterThan(0);
		// Another account is not held up.
		expect((await visitor('192.0.2.1').rightly()).status).toBe(200);

		await triesForgotten(fixture());
		expect((await stranger.signIn('guess number 6', email)).status).toBe(400);
		const second = await stranger.signIn('guess number 7', email);
		expect(second.status).toBe(429);
		expect(second.text).toContain('Wait 2 minutes, then try again, or reset your password.');
	});

	it('on many accounts from one network wait for each other above twenty a minute; right passwords and known browsers do not', async () => {
		const known = visitor('192.0.2.20');
		expect((await known.rightly()).path).toBe('/developer/keys');
		await known.browser.post('/developer/sign-out');
		const guess = (count: number) =>
			visitor('192.0.2.20').signIn('a wrong password', `nobody-${count}@tests.invalid`);
		for (let count = 0; count < 19; count += 1) expect((await guess(count)).status).toBe(400);
		expect((await guess(20)).status).toBe(400);
		const since = performance.now();
		const app = 'app@airtill.example';
		const order: string[] = [];
		const come = async (name: string, page: Promise<{ path: string }>) => {
			expect((await page).path).toBe('/developer/keys');
			order.push(name);
		};
		const right = come('unknown', visitor('192.0.2.20').signIn(demoPassword(fixture().server, app), app));
		await Promise.all([right, come('known', known.rightly())]);
		expect(order).toEqual(['known', 'unknown']);
		expect(performance.now() - since).toBeGreaterThan(4_500);
		// Whoever has a link by mail chooses the password all the same.
		const email = someone();
		const newcomer = visitor('192.0.2.20').browser;
		const from = { 'x-source': '192.0.2.20' };
		await newcomer.post('/developer/sign-up', { email }, from);
		const link = await mailedLink(fixture().server, email);
		expect((await newcomer.post(link, { password: PASSWORD }, from)).path).toBe('/developer/keys');
	}, 120_000);

	it('from many networks they wait too, but not the browser that has signed in before, nor a link by mail', async () => {
		const { server } = fixture();
		const home = visitor('198.51.100.7');
		expect((await home.rightly()).status).toBe(200);
		await home.browser.post('/developer/sign-out');

		const statuses = new Set<number>();
		for (let network = 0; network < 11; network += 1) {
			for (let count = 0; count < 5; count += 1) {
				statuses.add((await visitor(`203.0.113.${network}`).signIn(`guess number ${count}`)).status);
			}
		}
		expect([...statuses]).toEqual([400, 429]);
		expect((await visitor('203.0.113.200').rightly()).status).toBe(429);
		expect((await home.rightly()).path).toBe('/developer/keys');

		const elsewhere = visitor('203.0.113.201').browser;
		await elsewhere.post('/developer/forgot', { email: EMAIL }, { 'x-source': '203.0.113.201' });
		const link = await mailedLink(server, EMAIL);
		const set = await elsewhere.post(
			link,
			{ password: 'another long password' },
			{ 'x-source': '203.0.113.201' }
		);
		expect(set.path).toBe('/owner');
	});

	it('a forged or foreign token of a browser helps nobody', async () => {
		await fixture().server.advance(24 * 60 * minuteMs);
		await triesForgotten(fixture());
		const other = visitor('192.0.2.3');
		const app = 'app@airtill.example';
		await other.signIn(demoPassword(fixture().server, app), app);
		await other.browser.post('/developer/sign-out');
		const token = other.browser.cookies.get('airtill.known_browser') ?? '';
		expect(token.length).toBeGreaterThan(40);
		const statuses = [];
		for (const forged of [token, '', '.', 'a.b', token.replace('.', '.x'), token]) {
			other.browser.cookies.set('airtill.known_browser', forged);
			statuses.push((await other.signIn('a wrong password')).status);
		}
		expect(statuses).toEqual([400, 400, 400, 400, 400, 429]);
	});
});
