import { expect, freshNumber, ROUTER, test } from '../support/test.ts';
import { importHotspots, realHotspots } from '../support/portal.ts';

const PASSWORD = /^[a-z2-9]{4}-[a-z2-9]{4}-[a-z2-9]{4}$/;

test(
	'a payment that is approved shows the password, the QR code and the time left',
	{ tag: '@purchase' },
	async ({ buyer, page }) => {
		await buyer.buy(ROUTER, freshNumber());
		await expect(buyer.title).toHaveText(/^Your Wi‑Fi is paid until (tomorrow, )?\d\d:\d\d/);
		await expect(page.locator('.password')).toHaveText(PASSWORD);
		await page.getByText('Use it on another device').click();
		await expect(page.getByRole('img', { name: /QR/i })).toBeVisible();
		await expect(page.getByText('KISEMENTI-WIFI').first()).toBeVisible();
	}
);

test('time is bought on a real, imported router', async ({ buyer, portal, page }) => {
	const file = realHotspots();
	test.skip(file === null, 'needs ../shared/data/nyc-wifi-hotspots.csv, which this clone does not have');
	const router = await importHotspots(portal, file ?? '');
	await page.goto(`${portal.url}/?lat=40.7476&lon=-73.8181`);
	await page
		.getByRole('link', { name: /Kissena Park/ })
		.first()
		.click();
	await expect(page).toHaveURL(`${portal.url}/r/${router}`);
	await buyer.buy(router, freshNumber());
	await expect(buyer.title).toHaveText(/^Your Wi‑Fi is paid until/);
	await expect(page.getByText('GuestWiFi').first()).toBeVisible();
});
