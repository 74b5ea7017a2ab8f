import { expect, freshNumber, ROUTER, test } from '../support/test.ts';

test('no page asks another host for anything or holds an API key, and the test mode is said', async ({
	page,
	portal,
	buyer
}) => {
	const hosts = new Set<string>();
	page.on('request', (request) => hosts.add(new URL(request.url()).host));
	const texts: Promise<string>[] = [];
	page.on('response', (response) => texts.push(response.text().catch(() => '')));
	await page.goto(portal.url);
	await expect(page.locator('.leaflet-container')).toBeVisible();
	await buyer.buy(ROUTER, freshNumber());
	await expect(buyer.title).toHaveText(/^Your Wi‑Fi is paid until/);
	await expect(page.getByText(/test mode/i).first()).toBeVisible();
	expect([...hosts]).toEqual([new URL(portal.url).host]);
	for (const text of await Promise.all(texts)) expect(text).not.toMatch(/atl_(live|test)_/);
});
