/** Offers of a router, from the page to what the buyer gets. */
import { cutOff } from '../support/layout.ts';
import { lastTerms, ownerSets, PRICE_LIST } from '../support/offers.ts';
import { expect, freshNumber, test } from '../support/test.ts';

const ROUTER = 9;
const LONG_NAMED = 12;

test.describe('without script', () => {
	test.use({ javaScriptEnabled: false, viewport: { width: 360, height: 740 } });

	test('a buyer buys the day and gets exactly it', async ({ page, portal, buyer }) => {
		await ownerSets(portal, ROUTER, PRICE_LIST);
		await page.goto(`${portal.url}/r/${ROUTER}`);
		await expect(page.getByText('Best value')).toHaveCount(1);
		for (const seen of [page.locator('#phone'), page.getByRole('button', { name: /^Pay/ })]) {
			const box = await seen.boundingBox();
			expect((box?.y ?? 999) + (box?.height ?? 0)).toBeLessThanOrEqual(740);
		}
		await page.getByRole('radio', { name: /^Day\s*UGX\s1,000\s*3 devices/ }).check();
		await expect(page.getByRole('button', { name: /^Pay\sUGX\s1,000$/ })).toBeVisible();
		await page.getByLabel('Your mobile-money number').fill(freshNumber());
		await page.getByRole('button', { name: /^Pay/ }).click();
		await page.waitForURL(/\/s\/[\w-]{24}$/);
		await expect(buyer.title).toHaveText(/^Your Wi‑Fi is paid until/);
		await expect(page.locator('.lines').first()).toContainText('1 day');
		await expect(page.locator('.lines').first()).toContainText(/UGX\s1,000/);
		const terms = { duration: '1d', amount_minor: 1000, offer_name: 'Day', max_devices: 3 };
		expect(await lastTerms(portal, ROUTER)).toEqual(terms);
		await page.getByRole('link', { name: 'Add time' }).click();
		await expect(page.getByRole('radio', { name: /^Week\s*UGX\s5,000/ })).toBeVisible();
	});

	test('an offer that has changed meanwhile charges nothing and shows the current list', async ({
		page,
		portal
	}) => {
		await ownerSets(portal, ROUTER, PRICE_LIST);
		await page.goto(`${portal.url}/r/${ROUTER}`);
		await page.getByRole('radio', { name: /^Day/ }).check();
		await page.getByLabel('Your mobile-money number').fill(freshNumber());
		await ownerSets(portal, ROUTER, [{ name: 'Day', duration: '1d', price: 1500 }], { hourly: false });
		await page.getByRole('button', { name: /^Pay/ }).click();
		await expect(page.getByRole('alert')).toContainText('You have not been charged.');
		await expect(page.getByRole('alert')).toContainText('The offers have just changed.');
		await expect(page.getByRole('radio', { name: /^Day\s*UGX\s1,500/ })).toBeVisible();
		await expect(page.getByText('Other time')).toHaveCount(0);
	});
});

test('a long word in the name of an offer stays in its tile, also at the kiosk', async ({ page, portal }) => {
	const name = 'Supercalifragilisticexpialidocious-2026';
	await ownerSets(portal, LONG_NAMED, [
		{ name: 'Day', duration: '1d', price: 990_000, max_devices: 10 },
		{ name, duration: '2d', price: 1_000_000, max_devices: 10 }
	]);
	await page.setViewportSize({ width: 360, height: 740 });
	await page.goto(`${portal.url}/r/${LONG_NAMED}`);
	await expect(page.getByText(name)).toBeVisible();
	expect(await cutOff(page)).toEqual([]);
	await page.setViewportSize({ width: 1024, height: 768 });
	await page.goto(`${portal.url}/kiosk/${LONG_NAMED}`);
	await expect(page.getByText(name)).toBeVisible();
	expect(await cutOff(page)).toEqual([]);
});
