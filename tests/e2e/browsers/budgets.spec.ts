/** A page is usable on a slow link: limits for its first answer and for everything after it. */
import type { Page } from '@playwright/test';
import { firstAnswer } from '../../support/pages/first-answer.ts';
import { LOCALES } from '#lib/i18n/locales.ts';
import { ownerSets } from '../support/offers.ts';
import type { PurchaseFixtures } from '../support/purchase-fixtures.ts';
import { expect, ROUTER, test } from '../support/test.ts';

/** A server sends this before it waits for the first acknowledgement: ten segments of 1,460 bytes, less a little. */
const FIRST_ANSWER_BYTES = 14_336;
/** All scripts that the page loads by itself, as they are sent (Brotli). */
const SCRIPT_BYTES = 8 * 1_024;
const TEN_OFFERS_ROUTER = 11;
const QUIET_MS = 700;
/** Over http, as a portal without a certificate speaks, no browser takes Brotli: the larger first answer. */
const OVER_HTTP = 'gzip, deflate';

/** The pages that a buyer meets first, and what must be readable and doable there. */
const FIRST_PAGES: {
	name: string;
	path(fixtures: PurchaseFixtures): string;
	ready(page: Page): Promise<void>;
}[] = [
	{
		name: 'router',
		path: () => `/r/${ROUTER}`,
		async ready(page) {
			await expect(page.getByText(/UGX\s500/).first()).toBeVisible();
			await expect(page.locator('form[method=post] button.button')).toBeEnabled();
		}
	},
	{
		name: 'splash',
		path: ({ splash }) => splash,
		async ready(page) {
			await expect(page.getByText(/UGX\s700/).first()).toBeVisible();
			await expect(page.locator('form[method=post] button.button')).toBeEnabled();
		}
	},
	{
		name: 'purchase: waiting',
		path: ({ purchases }) => purchases.waiting,
		async ready(page) {
			await expect(page.getByRole('heading', { level: 1 })).toHaveText('Check your phone.');
			await expect(page.getByText(/UGX\s500/).first()).toBeVisible();
		}
	},
	{
		name: 'purchase: active',
		path: ({ purchases }) => purchases.active,
		async ready(page) {
			await expect(page.locator('.password')).toBeVisible();
			await page.getByText('Use it on another device').click();
			await expect(page.getByRole('img', { name: /QR/ })).toBeVisible();
		}
	},
	{
		name: 'purchase: declined',
		path: ({ purchases }) => purchases.declined,
		async ready(page) {
			await expect(page.locator('form[method=post] button.button').first()).toBeEnabled();
		}
	}
];

for (const { name, path, ready } of FIRST_PAGES) {
	test(`the first answer of a page (${name}) fits into the first flight, in every language`, async ({
		fixtures
	}) => {
		for (const locale of LOCALES) {
			const { status, bytes, html } = await firstAnswer(fixtures.url + path(fixtures), locale, OVER_HTTP);
			expect(status).toBe(200);
			expect(html).toContain(`<html lang="${locale}"`);
			expect.soft(bytes, locale).toBeLessThanOrEqual(FIRST_ANSWER_BYTES);
			// SvelteKit names the sheets that it has inlined, disabled: no browser loads those.
			expect.soft(html, locale).not.toMatch(/<link(?![^>]*disabled)[^>]*rel="stylesheet"/);
		}
	});

	test(`with everything but the first answer blocked, a page (${name}) can be read and used`, async ({
		page,
		fixtures
	}) => {
		await page.route('**/*', (route) =>
			route.request().isNavigationRequest() ? route.continue() : route.abort()
		);
		await page.goto(fixtures.url + path(fixtures), { waitUntil: 'commit' });
		await ready(page);
	});

	test(`what a page (${name}) loads afterwards is small, and from its own host`, async ({
		page,
		fixtures
	}) => {
		const scripts: Promise<number>[] = [];
		const loaded = () => scripts.length;
		const hosts = new Set<string>();
		page.on('request', (request) => hosts.add(new URL(request.url()).origin));
		page.on('requestfinished', (request) => {
			if (!/\.js$/.test(new URL(request.url()).pathname)) return;
			scripts.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
		});
		await page.goto(fixtures.url + path(fixtures), { waitUntil: 'load' });
		// Everything is there when the page has script and nothing has come for a while.
		let before = 0;
		await expect(async () => {
			const [last, now] = [before, loaded()];
			before = now;
			expect(now).toBeGreaterThan(0);
			expect(now).toBe(last);
		}).toPass({ intervals: [QUIET_MS], timeout: 20_000 });
		const total = (await Promise.all(scripts)).reduce((sum, bytes) => sum + bytes, 0);
		console.log(`${name}: ${scripts.length} scripts, ${total} bytes`);
		expect(total).toBeLessThanOrEqual(SCRIPT_BYTES);
		expect([...hosts]).toEqual([fixtures.url]);
	});
}

test('the first answer of a router with ten offers fits into the first flight, in every language', async ({
	fixtures
}) => {
	const offers = Array.from({ length: 10 }, (_, index) => ({
		...{ name: `Offer ${index} for the evening`, duration: `${index + 1}d`, price: 1000 + index * 900 },
		...(index % 2 === 0 && { max_devices: index + 1 })
	}));
	await ownerSets({ service: fixtures.server }, TEN_OFFERS_ROUTER, offers);
	for (const locale of LOCALES) {
		const { bytes, html } = await firstAnswer(`${fixtures.url}/r/${TEN_OFFERS_ROUTER}`, locale, OVER_HTTP);
		expect(html.match(/for the evening<\/bdi>/g)).toHaveLength(10);
		expect.soft(bytes, locale).toBeLessThanOrEqual(FIRST_ANSWER_BYTES);
	}
});
