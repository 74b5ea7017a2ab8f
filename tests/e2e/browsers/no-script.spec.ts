import { expect, freshNumber, test, unfold } from '../support/test.ts';

test.use({ javaScriptEnabled: false });

test(
	'without JavaScript one gets from the list to the password',
	{ tag: '@purchase' },
	async ({ page, portal, buyer }) => {
		await page.goto(portal.url);
		await page
			.getByRole('link', { name: /Kamwokya Barber/ })
			.first()
			.click();
		await page.getByRole('radio', { name: /^1 hour/ }).check();
		await page.getByLabel('Your mobile-money number').fill(freshNumber());
		await page.getByRole('button', { name: /^Pay/ }).click();
		await page.waitForURL(/\/s\/[\w-]{24}$/);
		await expect(buyer.title).toHaveText('Check your phone.');
		// The page loads itself again by <meta refresh> until the password is there.
		await expect(buyer.title).toHaveText(/^Your Wi‑Fi is paid until/, { timeout: 20_000 });
		await expect(page.locator('.password')).toHaveText(/^[a-z2-9]{4}-[a-z2-9]{4}-[a-z2-9]{4}$/);
		await expect(page.getByRole('img', { name: /QR/i })).toBeVisible();
	}
);

test('without JavaScript an own time comes back with its price before it is charged', async ({
	page,
	portal,
	buyer
}) => {
	await page.goto(`${portal.url}/r/3`);
	await unfold(page);
	await page.getByRole('radio', { name: /own|other/i }).check();
	await page.locator('input[name=count]').fill('150');
	await page.locator('select[name=unit]').selectOption('m');
	await page.getByLabel('Your mobile-money number').fill(freshNumber());
	await page.getByRole('button', { name: /^Pay/ }).click();
	await expect(page.getByRole('alert')).toContainText('UGX\u00a01,250');
	await expect(page).toHaveURL(/\/r\/3\?order$/);
	await page.getByRole('button', { name: /^Pay/ }).click();
	await page.waitForURL(/\/s\/[\w-]{24}$/);
	await expect(buyer.title).toHaveText(/^Your Wi‑Fi is paid until/, { timeout: 20_000 });
});
