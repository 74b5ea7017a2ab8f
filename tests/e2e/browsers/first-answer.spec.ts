import { expect, freshNumber, ROUTER, test } from '../support/test.ts';

test('with everything but the first answer blocked, a router page can be read and paid', async ({
	page,
	portal,
	buyer
}) => {
	await page.route('**/*', (route) => {
		const isPage = route.request().isNavigationRequest();
		return isPage ? route.continue() : route.abort();
	});
	await buyer.buy(ROUTER, freshNumber());
	// The page's script did not come: the page loads itself again.
	await expect(buyer.title).toHaveText(/^Your Wi‑Fi is paid until/, { timeout: 40_000 });
	expect(new URL(page.url()).origin).toBe(portal.url);
});

test('no page asks another host for anything, and none allows inline script', async ({
	page,
	portal,
	buyer
}) => {
	const hosts = new Set<string>();
	page.on('request', (request) => hosts.add(new URL(request.url()).host));
	await page.goto(portal.url);
	await expect(page.locator('.leaflet-container')).toBeVisible();
	await buyer.buy(ROUTER, freshNumber());
	await expect(buyer.title).toHaveText(/^Your Wi‑Fi is paid until/, { timeout: 10_000 });
	expect([...hosts]).toEqual([new URL(portal.url).host]);

	for (const path of ['/', `/r/${ROUTER}`, new URL(page.url()).pathname]) {
		const { headers } = await fetch(portal.url + path);
		const policy = headers.get('content-security-policy') ?? '';
		expect(policy).toContain("default-src 'none'");
		expect(policy).not.toContain('unsafe-inline');
		expect(policy).not.toContain('unsafe-eval');
		expect(headers.get('cache-control')).toBe('no-store');
		expect(headers.get('x-content-type-options')).toBe('nosniff');
		expect(headers.get('set-cookie')).toBeNull();
	}
});

test('no answer to a browser holds an API key', async ({ page, buyer }) => {
	const texts: Promise<string>[] = [];
	page.on('response', (response) => texts.push(response.text().catch(() => '')));
	await buyer.buy(ROUTER, freshNumber());
	await expect(buyer.title).toHaveText(/^Your Wi‑Fi is paid until/, { timeout: 10_000 });
	for (const text of await Promise.all(texts)) expect(text).not.toMatch(/atl_(live|test)_/);
});

test('every page carries the mark of the test mode', async ({ page, portal, buyer }) => {
	for (const path of ['/', `/r/${ROUTER}`, '/nothing-here']) {
		await page.goto(portal.url + path);
		await expect(page.getByText(/test mode/i).first()).toBeVisible();
	}
	await buyer.buy(ROUTER, freshNumber());
	await expect(page.getByText(/test mode/i).first()).toBeVisible();
});
