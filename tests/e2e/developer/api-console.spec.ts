import { makeKey, signInAs, test } from '../support/developers.ts';
import { expect } from '../support/test.ts';

/** Hash of the announcer's style in SvelteKit 2. */
const ANNOUNCER_STYLE = 'sha256-S8qMpvofolR8Mpjy4kQvEm7m1q8clzU4dfDH0AmvZjo=';

test('the API console calls an endpoint with a key, within the content security policy', async ({
	page,
	area
}) => {
	const errors: string[] = [];
	page.on('console', (message) => {
		// SvelteKit's route announcer has a style attribute. The policy blocks it, and base.css hides the announcer.
		if (message.type() === 'error' && !message.text().includes(ANNOUNCER_STYLE)) errors.push(message.text());
	});
	await signInAs(page, area, 'app');
	const key = await makeKey(page, area, 'Console');
	await page.goto(`${area.url}/docs/try`);
	await page.getByRole('button', { name: 'Authorize', exact: true }).click();
	const dialog = page.locator('.dialog-ux');
	await dialog.getByRole('textbox').fill(key);
	await dialog.getByRole('button', { name: 'Apply credentials' }).click();
	await dialog.getByRole('button', { name: 'Close', exact: true }).click();
	const operation = page.locator('[id$=getRouter]');
	await operation.getByRole('button').first().click();
	await operation.getByPlaceholder('id').fill('3');
	await operation.getByRole('button', { name: 'Execute' }).click();
	await expect(operation.locator('.live-responses-table .response-col_status').last()).toContainText('200');
	await expect(operation.locator('.live-responses-table')).toContainText('"id": 3');
	expect(errors).toEqual([]);
});

test('a block of code is copied as a whole', async ({ page, area }) => {
	await page.goto(`${area.url}/docs/quickstart`);
	const block = page.locator('figure', { has: page.locator('[data-code="step 1"]') });
	await block.getByRole('button', { name: 'Copy' }).click();
	await expect(block.getByRole('button', { name: 'Copied' })).toBeVisible();
	await page.getByLabel('Search the documentation').focus();
	await page.keyboard.press('ControlOrMeta+V');
	await expect(page.getByLabel('Search the documentation')).toHaveValue(/^curl 'http.*radius=5000/);
});
