/**
 * From "no internet" to "internet" through a gateway's splash page, in the window that phones open for it. The gateways
 * are stand-ins that check each sign-in as the real ones do.
 */
import type { Browser, Page } from '@playwright/test';
import { startGateway, type Kind, type StandInGateway } from '../../simulators/gateway/gateway.ts';
import { isAll } from '../../support/all.ts';
import { registerGateway, type Registered } from '../../support/gateways/gateways.ts';
import { openMiniBrowser, type MiniBrowser } from '../../support/browsers/mini-browser.ts';
import { cli } from '../../support/server/cli.ts';
import type { Portal } from '../support/portal.ts';
import { lastTerms, ownerSets, PRICE_LIST } from '../support/offers.ts';
import { expect, freshNumber, ROUTER, test } from '../support/test.ts';

// Each test has a gateway of its own, and waits for its pages most of the time.
test.describe.configure({ mode: 'parallel' });

const PROBE = '/hotspot-detect.html';
const FINISHING: readonly Kind[] = ['opennds', 'mikrotik-pap', 'mikrotik-chap', 'coova'];
/**
 * One that knows the device and one that does not, with script, and one whose own page needs a button without it. PAP lets a
 * device in below. What the page says after a refusal: tests/api/portal/splash/splash-purchases.test.ts.
 */
const wholeWay = (javaScript: boolean): readonly Kind[] =>
	isAll ? FINISHING : javaScript ? ['opennds', 'coova'] : ['mikrotik-chap'];

interface Site {
	gateway: StandInGateway;
	registered: Registered;
	mini: MiniBrowser;
	/** Buys an hour, or another time. */
	pay(phone?: string, time?: RegExp): Promise<void>;
	/** Sees the code that brings the page back. */
	code(): Promise<void>;
	/** The phone looks for the internet, and the window shows what came instead. */
	probe(): Promise<void>;
}

/** A venue with a gateway, and a phone in it. */
async function atSite(
	{
		browser,
		portal,
		kind,
		javaScript,
		router = ROUTER
	}: { browser: Browser; portal: Portal; kind: Kind; javaScript: boolean; router?: number },
	visit: (site: Site) => Promise<void>
): Promise<void> {
	const gateway = await startGateway(kind);
	const more = kind === 'unifi' ? ['--site', `site-${gateway.host.split(':')[1]}`] : [];
	const registered = await registerGateway(portal.pages, kind, { loginHost: gateway.host, router, more });
	// A service elsewhere hears of no gateway: it is told what its router is.
	if (portal.pages !== portal.service) {
		const access = ['routers', 'access', String(router), '--kind', 'portal_login'];
		expect(await cli(access, portal.service)).toMatchObject({ code: 0 });
	}
	gateway.connect({
		portal: registered.portal,
		secret: registered.secret,
		ssid: 'KISEMENTI-WIFI',
		passwordOf: () => readPassword(purchase)
	});
	let purchase = '';
	const mini = await openMiniBrowser(browser, { javaScript });
	try {
		await visit({
			gateway,
			registered,
			mini,
			async pay(phone = freshNumber(), time = /^1 hour/) {
				const { page } = mini;
				await page.getByRole('radio', { name: time }).check();
				await page.getByLabel('Your mobile-money number').fill(phone);
				await page.getByRole('button', { name: /^Pay/ }).click();
				await page.waitForURL(/\/s(\/[\w-]{24}){1,2}$/);
				purchase = page.url();
			},
			async code() {
				await expect(mini.page.locator('.large')).toHaveText(/^[0-9A-Z]{4}-[0-9A-Z]{4}$/);
				// openNDS knows the device, and nobody is asked for a password.
				if (kind === 'opennds') return;
				const password = mini.page.locator('.password');
				await expect(password).toBeHidden();
				await expect(password).toHaveText(/^[a-z2-9]{4}-[a-z2-9]{4}-[a-z2-9]{4}$/);
			},
			async probe() {
				await mini.page.goto(gateway.url + PROBE);
				// A router's own login page sends itself on; without script by a button.
				if (kind.startsWith('mikrotik') && !javaScript) {
					await mini.page.getByRole('button', { name: 'Continue' }).click();
				}
				await mini.page.waitForURL(/\/(splash|guest)\//);
			}
		});
	} finally {
		await mini.close();
		await gateway.stop();
	}
	expect(mini.faults).toEqual([]);
}

/** The password on the page of a purchase. */
async function readPassword(address: string): Promise<string | null> {
	const html = await (await fetch(address, { headers: { accept: 'text/html' } })).text();
	const shown = /class="password[^>]*>(.*?)<\/p>/s.exec(html)?.[1] ?? '';
	return /[a-z2-9]{4}-[a-z2-9]{4}-[a-z2-9]{4}/.exec(shown.replace(/<[^>]*>|\s/g, ''))?.[0] ?? null;
}

const title = (page: Page) => page.getByRole('heading', { level: 1 });

for (const javaScript of [true, false]) {
	const how = javaScript ? 'with script' : 'without script';
	for (const kind of wholeWay(javaScript)) {
		test(`${kind}, ${how}: probe, price, payment, code, online`, async ({ browser, portal }) => {
			await atSite({ browser, portal, kind, javaScript }, async ({ gateway, mini, probe, code, pay }) => {
				await probe();
				await expect(title(mini.page)).toHaveText('Kisementi Corner');
				await expect(mini.page.getByRole('radio', { name: /^1 hour\s*UGX\s500/ })).toBeVisible();
				await pay();
				const { page } = mini;
				// It goes by itself.
				await page.waitForURL(/\/s(\/[\w-]{24}){2}\?online$/);
				await expect(title(page)).toHaveText('You are online.');
				await code();
				await expect(page.getByRole('link', { name: 'Start browsing' })).toBeVisible();
				expect(gateway.signIns).toEqual([{ user: expect.stringMatching(/^s\d+$/), isRight: true }]);
				expect(gateway.isOnline).toBe(true);
				// Back on the page later, nothing goes anywhere by itself.
				await page.goto(page.url().replace('?online', ''));
				await expect(page.getByRole('link', { name: 'Try again to go online' })).toBeVisible();
				expect(await page.content()).not.toContain('http-equiv="refresh"');
				await page.goto(gateway.url + PROBE);
				await expect(page).toHaveTitle('Success');
			});
		});
	}
}

test('without script the day of a price list is bought, and gets exactly it', async ({ browser, portal }) => {
	const router = 6;
	const at = { browser, portal, kind: 'mikrotik-pap', javaScript: false, router } as const;
	await atSite(at, async ({ gateway, mini, probe, code, pay }) => {
		await ownerSets(portal, router, PRICE_LIST);
		await probe();
		await expect(mini.page.getByText('Best value')).toHaveCount(1);
		await pay(freshNumber(), /^Day\s*UGX\s1,000\s*3 devices/);
		await expect(title(mini.page)).toHaveText('You are online.');
		await code();
		expect(gateway.isOnline).toBe(true);
		const terms = { duration: '1d', amount_minor: 1000, offer_name: 'Day', max_devices: 3 };
		expect(await lastTerms(portal, router)).toEqual(terms);
	});
});

test('the window closes while paying: opened again, it does not sell twice, and the purchase lets it online', async ({
	browser,
	portal
}) => {
	await atSite(
		{ browser, portal, kind: 'opennds', javaScript: true },
		async ({ gateway, mini, probe, pay }) => {
			await probe();
			await pay(freshNumber('006'));
			await expect(title(mini.page)).toHaveText('Check your phone.');
			const code = await mini.page.locator('.large').innerText();
			// The phone's prompt comes up; the window is gone, and so are its cookies.
			await mini.reopen(gateway.url + PROBE);
			await expect(mini.page.getByText('Have you already paid?')).toBeVisible();
			await expect(mini.page.locator('.large, .password')).toHaveCount(0);
			// The device joins again. Only its MAC address shows that it is the same one.
			gateway.join();
			await mini.reopen(gateway.url + PROBE);
			await expect(mini.page.getByText('Have you already paid?')).toHaveCount(0);
			await mini.page.getByRole('link', { name: 'Paid already? Do not pay again. Enter your code' }).click();
			await mini.page.locator('input[name=code]').fill(code);
			await mini.page.getByRole('button', { name: 'Open my purchase' }).click();
			await mini.page.waitForURL(/\/s(\/[\w-]{24}){1,2}$/);
			await portal.advance(31_000);
			await expect(title(mini.page)).toHaveText('You are online.');
			// The first visit's token at the gateway has gone with it: only the newest one opens.
			expect(gateway.signIns).toEqual([expect.objectContaining({ isRight: true })]);
		}
	);
});

test('UniFi: sold at the address that it calls; the page says that the Wi-Fi opens by itself', async ({
	browser,
	portal
}) => {
	await atSite({ browser, portal, kind: 'unifi', javaScript: false }, async ({ mini, probe, pay }) => {
		await probe();
		await pay();
		await expect(title(mini.page)).toHaveText(/^Your Wi‑Fi is paid until/);
		await expect(mini.page.getByText('This Wi‑Fi connects you automatically.')).toBeVisible();
		await expect(mini.page.getByRole('link', { name: 'Go online now' })).toHaveCount(0);
	});
});
