import type { Page } from '@playwright/test';
import { isAll } from '../../support/all.ts';
import { expect, freshNumber, ROUTER, test, type Buyer } from '../support/test.ts';

const MINUTE = 60_000;
const CODE = /^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/;

/** Buys an hour and waits for its password. */
async function active(buyer: Buyer): Promise<{ password: string; until: string }> {
	await buyer.buy(ROUTER, freshNumber());
	await expect(buyer.title).toHaveText(/^Your Wi‑Fi is paid until/);
	return { password: await passwordOf(buyer.page), until: await buyer.title.innerText() };
}

const passwordOf = async (page: Page) => (await page.locator('.password').innerText()).trim();

/** Adds half an hour by the form of the page. */
async function addTime(page: Page, phone: string, link = 'Add time'): Promise<void> {
	await page.getByRole('link', { name: link, exact: true }).click();
	const form = page.locator('form[action="?/extend"]');
	await form.getByRole('radio', { name: /^30 minutes/ }).check();
	await form.getByLabel('Your mobile-money number').fill(phone);
	await form.getByRole('button', { name: /^Pay/ }).click();
	await page.waitForURL(/\/s\/[\w-]{24}$/);
}

// Forms without script add time in tests/api/portal/purchases.
for (const script of isAll ? [true, false] : [true]) {
	test.describe(script ? 'with script' : 'without script', () => {
		test.use({ javaScriptEnabled: script });

		test('time is added on the same page: later end, same password, no gap', async ({ buyer, page }) => {
			const { password, until } = await active(buyer);
			const address = new URL(page.url()).pathname;
			await addTime(page, freshNumber());
			await expect(buyer.title).not.toHaveText(until);
			await expect(buyer.title).toHaveText(/^Your Wi‑Fi is paid until/);
			expect(await passwordOf(page)).toBe(password);
			expect(new URL(page.url()).pathname).toBe(address);
			await expect(page.locator('.left')).toContainText(/1 hour (29|30) minutes/);
		});
	});
}

test.describe('without script', () => {
	test.use({ javaScriptEnabled: false });

	test('the code that is shown while waiting opens the purchase on another device', async ({
		buyer,
		page,
		browser,
		portal
	}) => {
		await buyer.buy(ROUTER, freshNumber('006'));
		await expect(buyer.title).toHaveText('Check your phone.');
		const code = await page.locator('.large').innerText();
		expect(code).toMatch(CODE);
		await page.close();
		await portal.advance(31_000);

		const elsewhere = await browser.newContext({ javaScriptEnabled: false });
		const other = await elsewhere.newPage();
		await other.goto(`${portal.url}/resume`);
		await other.getByLabel('Your code').fill('zzzz zzzz');
		await other.getByRole('button', { name: 'Open my purchase' }).click();
		await expect(other.getByRole('alert')).toContainText('We can’t find this code.');
		await other.getByLabel('Your code').fill(code.toLowerCase().replace('-', ' '));
		await other.getByRole('button', { name: 'Open my purchase' }).click();
		await expect(other.getByRole('heading', { level: 1 })).toHaveText(/^Your Wi‑Fi is paid until/);
		await expect(other.getByText(code).first()).toBeAttached();
		await elsewhere.close();
	});
});

test('while the added time is not paid, password and time stay, beside the state of the payment', async ({
	buyer,
	page
}) => {
	const { password, until } = await active(buyer);
	await addTime(page, freshNumber('001'));
	await expect(page.getByRole('heading', { level: 2 })).toHaveText('Payment declined, or the PIN was wrong.');
	await expect(buyer.title).toHaveText(until);
	expect(await passwordOf(page)).toBe(password);
	// The next try takes the place of the first.
	await addTime(page, freshNumber(), 'Try again');
	await expect(buyer.title).not.toHaveText(until);
	await expect(page.getByRole('heading', { level: 2 })).toHaveCount(0);
});

test('a pass that ends while its extension is paid loses nothing: the paid time starts at once', async ({
	buyer,
	page,
	portal
}) => {
	const { password } = await active(buyer);
	await portal.advance(55 * MINUTE);
	await page.reload();
	await addTime(page, freshNumber('006'));
	await expect(page.getByRole('heading', { name: 'Check your phone to add time.' })).toBeVisible();
	await portal.advance(6 * MINUTE);
	await expect(async () => {
		await page.reload();
		await expect(buyer.title).toHaveText(/^Your Wi‑Fi is paid until/, { timeout: 500 });
		expect(await passwordOf(page)).not.toBe(password);
		// Each load takes from the limit of a remote portal's key.
	}).toPass({ timeout: 90_000, intervals: [1_000, 3_000] });
});

test('the page warns before the end, and says how to go on', async ({ buyer, page, portal }) => {
	await active(buyer);
	await expect(page.getByText('Your time ends soon.')).toBeHidden();
	await portal.advance(55 * MINUTE);
	await page.reload();
	await expect(page.getByRole('status').getByText('Your time ends soon.')).toBeVisible();
	await page.getByRole('link', { name: /^Add time to stay connected/ }).click();
	await expect(page.locator('form[action="?/extend"]')).toBeVisible();
});

test('the receipt says what was bought and paid', async ({ buyer, page }) => {
	const { password } = await active(buyer);
	await page.getByRole('link', { name: 'Receipt' }).click();
	await expect(buyer.title).toHaveText('Receipt');
	const receipt = await page.locator('main').innerText();
	expect(receipt).toContain('Kisementi Corner');
	expect(receipt).toMatch(/UGX\s500/);
	expect(receipt).toMatch(/0772\s•••\s456/);
	expect(receipt).toMatch(/Transaction ID\s+SBX[0-9A-F]{12}/);
	expect(receipt).toMatch(/Code\s+[0-9A-Z]{4}-[0-9A-Z]{4}/);
	expect(receipt).not.toContain(password);
	await page.emulateMedia({ media: 'print' });
	await expect(page.getByRole('link', { name: 'Back to your purchase' })).toBeHidden();
	await expect(page.getByText('Kisementi Corner')).toBeVisible();
	await expect(page.locator('main').getByText('Test mode: no real money')).toBeVisible();
});
