import { expect, freshNumber, test } from '../support/test.ts';

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
		await expect(buyer.title).toHaveText(/^Your Wi‑Fi is paid until/);
		await expect(page.locator('.password')).toHaveText(/^[a-z2-9]{4}-[a-z2-9]{4}-[a-z2-9]{4}$/);
		await page.getByText('Use it on another device').click();
		await expect(page.getByRole('img', { name: /QR/i })).toBeVisible();
	}
);
