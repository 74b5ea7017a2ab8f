/**
 * The window in which a phone shows a captive portal: no storage, no second window, no download, no cookies from
 * one opening to the next, and it closes when the payment prompt comes up.
 */
import type { Page } from '@playwright/test';
import { isAll } from '../../support/all.ts';
import { openMiniBrowser } from '../../support/browsers/mini-browser.ts';
import { BUYING, visit } from '../support/pages.ts';
import { expect, freshNumber, ROUTER, test } from '../support/test.ts';

const title = (page: Page) => page.getByRole('heading', { level: 1 });

for (const javaScript of isAll ? [true, false] : [true]) {
	const how = javaScript ? 'with' : 'without';

	test(`a window that closes while the phone asks for the PIN loses nothing (${how} script)`, async ({
		browser,
		fixtures
	}) => {
		const mini = await openMiniBrowser(browser, { javaScript });
		await mini.page.goto(`${fixtures.url}/r/${ROUTER}`);
		await mini.page.locator('#phone').fill(freshNumber());
		await mini.page.locator('form[method=post] button.button').click();
		await mini.page.waitForURL(/\/s(\/[\w-]{24}){1,2}$/);
		const address = mini.page.url();
		await mini.reopen(address);
		await expect(title(mini.page)).toHaveText(/^Your Wi‑Fi is paid until/);
		await expect(mini.page.locator('.password')).toBeVisible();
		const password = await mini.page.locator('.password').innerText();
		await mini.reopen(address);
		await expect(mini.page.locator('.password')).toHaveText(password);
		await mini.close();
		expect(mini.faults).toEqual([]);
	});

	test(`a payer who declines in another window can pay again in the new one (${how} script)`, async ({
		browser,
		fixtures
	}) => {
		const mini = await openMiniBrowser(browser, { javaScript });
		await mini.page.goto(`${fixtures.url}/r/${ROUTER}`);
		await mini.page.locator('#phone').fill(freshNumber('001'));
		await mini.page.locator('form[method=post] button.button').click();
		await mini.page.waitForURL(/\/s(\/[\w-]{24}){1,2}$/);
		await mini.reopen(mini.page.url());
		await expect(title(mini.page)).toHaveText('Payment declined, or the PIN was wrong.');
		await mini.page.locator('#phone').fill(freshNumber());
		await mini.page.getByRole('button', { name: /^Try again/ }).click();
		await expect(title(mini.page)).toHaveText(/^Your Wi‑Fi is paid until/);
		await mini.close();
		expect(mini.faults).toEqual([]);
	});
}

test('no page of a buyer leads to a new window or a download, sets a cookie or breaks without storage', async ({
	browser,
	fixtures
}) => {
	const mini = await openMiniBrowser(browser);
	const broken: string[] = [];
	mini.page.on('pageerror', (error) => broken.push(`${mini.page.url()}: ${error.message}`));
	mini.page.on('response', (response) => {
		if (response.headers()['set-cookie']) broken.push(`a cookie from ${response.url()}`);
	});
	for (const place of BUYING) {
		await visit(mini.page, fixtures, place);
		const links = mini.page.locator(
			'[target], [formtarget], a[download], a[href^="blob:"], a[href^="data:"]'
		);
		expect.soft(await links.count(), place.name).toBe(0);
	}
	await mini.close();
	expect(broken).toEqual([]);
	expect(mini.faults).toEqual([]);
});
