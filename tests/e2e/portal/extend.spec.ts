import { expect, freshNumber, ROUTER, test } from '../support/test.ts';

const MINUTE = 60_000;

// What the page says of a declined addition and on the receipt: tests/api/portal/purchase-page.test.ts.
test('the page warns before the end; time is added there: later end, same password, no gap', async ({
	buyer,
	page,
	portal
}) => {
	await buyer.buy(ROUTER, freshNumber());
	await expect(buyer.title).toHaveText(/^Your Wi‑Fi is paid until/);
	const [until, password] = [await buyer.title.innerText(), await page.locator('.password').innerText()];
	const address = page.url();
	await expect(page.getByText('Your time ends soon.')).toBeHidden();
	await portal.advance(55 * MINUTE);
	await page.reload();
	await expect(page.getByRole('status').getByText('Your time ends soon.')).toBeVisible();
	await page.getByRole('link', { name: /^Add time to stay connected/ }).click();
	const form = page.locator('form[action="?/extend"]');
	await form.getByRole('radio', { name: /^30 minutes/ }).check();
	await form.getByLabel('Your mobile-money number').fill(freshNumber());
	await form.getByRole('button', { name: /^Pay/ }).click();
	await expect(page).toHaveURL(address);
	await expect(buyer.title).not.toHaveText(until);
	await expect(buyer.title).toHaveText(/^Your Wi‑Fi is paid until/);
	await expect(page.locator('.password')).toHaveText(password);
	await expect(page.locator('.left')).toContainText(/3[2-5] minutes/);
});
