/** Keys and the request log in the developer area, as a person with a browser uses them. */
import type { Page } from '@playwright/test';
import { isAll } from '../../support/all.ts';
import { signInAs, statusWith, test, title } from '../support/developers.ts';
import { expect } from '../support/test.ts';

const KEY = /^atl_test_[0-9A-Za-z]{36}$/;

/** The part of the list that is about one key. */
const entryOf = (page: Page, name: string) =>
	page.getByRole('listitem').filter({ has: page.getByRole('heading', { name, exact: true }) });

/** Loads a page until it shows what is written behind. */
async function reloadUntil(page: Page, shown: () => Promise<void>): Promise<void> {
	await expect(async () => {
		await page.reload();
		await shown();
	}).toPass({ intervals: [50, 100, 250, 500] });
}

for (const javaScriptEnabled of isAll ? [true, false] : [true]) {
	test.describe(javaScriptEnabled ? 'with script' : 'without script', () => {
		test.use({ javaScriptEnabled });

		test('a key is made, shown once, used, looked after and revoked', async ({ page, area }) => {
			const name = `Kiosk ${String(javaScriptEnabled)}`;
			await signInAs(page, area, 'owner');
			await page.getByLabel('Name').fill(name);
			await page.getByRole('radio', { name: /^app/ }).check();
			await page.getByRole('checkbox', { name: /^routers:read/ }).check();
			await page.getByRole('checkbox', { name: /^payments:read/ }).check();
			await page.getByRole('radio', { name: 'After 30 days' }).check();
			await page.getByRole('button', { name: 'Create key' }).click();

			await expect(title(page)).toHaveText('Your new key');
			const key = await page.locator('.secret').innerText();
			expect(key).toMatch(KEY);
			const copy = page.getByRole('button', { name: 'Copy key' });
			await expect(copy).toHaveCount(javaScriptEnabled ? 1 : 0);
			if (javaScriptEnabled) {
				await copy.click();
				await expect(page.getByRole('button', { name: 'Copied' })).toBeVisible();
			}
			expect(await statusWith(area, key)).toBe(200);
			expect(await statusWith(area, key, '/v1/sessions/1')).toBe(403);

			await page.getByRole('link', { name: /Back to keys/ }).click();
			const entry = entryOf(page, name);
			await expect(entry).toContainText(`atl_test_…${key.slice(-4)}`);
			await reloadUntil(page, () => expect(entry).toContainText(/Last used\s*just now/, { timeout: 100 }));
			await expect(entry).toContainText('routers:read, payments:read');
			await expect(entry).not.toContainText(/Expires\s*never/);
			expect(await page.content()).not.toContain(key);

			await page.getByRole('link', { name: 'Requests' }).click();
			await page.getByLabel('Status').selectOption('4xx refused');
			await page.getByRole('button', { name: 'Show' }).click();
			await expect(page.locator('tbody tr').first()).toContainText('GET /v1/sessions/1');
			await expect(page.locator('tbody')).not.toContainText('GET /v1/routers');
			await page.getByRole('link', { name: 'Keys', exact: true }).click();

			await entry.getByText(`Revoke: ${name}`).click();
			expect(await statusWith(area, key)).toBe(200);
			await page.getByRole('button', { name: 'Revoke key' }).click();
			await expect(page.getByRole('status')).toContainText(`${name} is revoked.`);
			await area.server.advance(5_000);
			expect(await statusWith(area, key)).toBe(401);
			await expect(entry).toHaveCount(0);
			await page.getByText(/^Ended keys/).click();
			await expect(page.getByRole('listitem').filter({ hasText: name })).toContainText('revoked');
		});
	});
}
