import type { Page } from '@playwright/test';
import { isAll } from '../../support/all.ts';
import { another, demoPassword, test, typeSignIn } from '../support/developers.ts';
import { expect } from '../support/test.ts';

/** Hash of the announcer's style in SvelteKit 2. */
const ANNOUNCER_STYLE = 'sha256-S8qMpvofolR8Mpjy4kQvEm7m1q8clzU4dfDH0AmvZjo=';

/** The endpoints of the document, in its order. */
const endpointsOf = (page: Page, which = '.opblock'): Promise<string[]> =>
	page
		.locator(which)
		.evaluateAll((all) => all.map(({ id }) => id).filter((id) => !id.startsWith('operations-webhooks-on')));

/** Opens an endpoint and sends its form as it is. @returns the status */
async function press(page: Page, endpoint: string): Promise<string> {
	const operation = page.locator(`[id="${endpoint}"]`);
	await operation.locator('.opblock-summary-control').click();
	await operation.getByRole('button', { name: 'Execute' }).click();
	const status = operation.locator('.live-responses-table .response-col_status').last();
	await expect(status).toContainText(/\d{3}/);
	const code = (await status.innerText()).slice(0, 3);
	// Each change draws all that is open: with eighteen open endpoints it takes seconds.
	await operation.locator('.opblock-summary-control').click();
	return code;
}

async function openConsole(page: Page, url: string, which?: string): Promise<string[]> {
	await page.goto(`${url}/docs/api`);
	await expect(page.locator('.opblock').first()).toBeVisible();
	await expect(page.getByText('This page has the keys of the demo accounts')).toBeVisible();
	return endpointsOf(page, which);
}

/** Each takes seconds: only those that change something, and every one for each visitor with `--all`. */
test('the first Execute of every endpoint works as its form is filled in, for each visitor, within the content security policy', async ({
	page,
	area,
	browser
}) => {
	test.slow();
	const errors: string[] = [];
	page.on('console', (message) => {
		// SvelteKit's route announcer has a style attribute. The policy blocks it, and base.css hides the announcer.
		if (message.type() === 'error' && !message.text().includes(ANNOUNCER_STYLE)) errors.push(message.text());
	});
	const changes = '.opblock:not(.opblock-get)';
	const endpoints = await openConsole(page, area.url, isAll ? undefined : changes);
	expect(endpoints.length).toBeGreaterThan(isAll ? 16 : 5);
	// From the last to the first: none depends on a call before it.
	for (const endpoint of endpoints.reverse())
		expect(await press(page, endpoint), endpoint).toMatch(/^20[01]$/);
	expect(errors).toEqual([]);
	if (!isAll) return;
	// Another visitor finds what the first one has used up.
	await another(browser, async (other) => {
		for (const endpoint of await openConsole(other, area.url, changes))
			expect(await press(other, endpoint), endpoint).toMatch(/^20[01]$/);
	});
});

test('a demo account has its keys on the API page also from another machine, and others enter one', async ({
	page,
	area
}) => {
	// What a proxy adds says that the browser is elsewhere.
	await page.setExtraHTTPHeaders({ 'x-forwarded-for': '203.0.113.9' });
	await page.goto(`${area.url}/docs/api`);
	await expect(page.locator('.opblock').first()).toBeVisible();
	await expect(page.getByText('Create a key in the developer settings')).toBeVisible();
	expect(await press(page, (await endpointsOf(page))[0] ?? '')).toBe('401');
	const email = 'app@airtill.example';
	await page.goto(`${area.url}/developer/sign-in`);
	await typeSignIn(page, email, demoPassword(area.server, email));
	await page.waitForURL(/\/developer\/keys$/);
	const endpoints = await openConsole(page, area.url);
	const earnings = endpoints.find((endpoint) => endpoint.endsWith('getEarnings')) ?? '';
	expect(await press(page, earnings)).toBe('200');
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
