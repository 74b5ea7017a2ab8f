import { expect, test } from '../../support/test.ts';

test('without a wish the list begins around the centre of the installation, nearest first', async ({
	page,
	portal
}) => {
	await page.goto(portal.url);
	const places = page.getByRole('list', { name: 'Where to buy' }).getByRole('listitem');
	await expect(places.first()).toContainText('Kamwokya Barber & Net');
	await expect(places.first()).toContainText(/UGX\s250/);
	await expect(places.first()).toContainText('Barber&Net');
	await expect(places.first()).toContainText(/\d+ m/);
});

test('a place that is typed by name is found, also without script', async ({ browser, portal }) => {
	for (const javaScriptEnabled of [true, false]) {
		const context = await browser.newContext({ javaScriptEnabled });
		const page = await context.newPage();
		await page.goto(portal.url);
		await page.getByLabel('Where are you?').fill('makerere hill');
		await page.getByRole('button', { name: 'Search' }).click();
		await expect(
			page.getByRole('list', { name: 'Where to buy' }).getByRole('listitem').first()
		).toContainText('Makerere Gate Print Shop');
		await context.close();
	}
});

test('a position that is typed is where the list begins', async ({ page, portal }) => {
	await page.goto(portal.url);
	await page.getByLabel('Where are you?').fill('0.0593, 32.4631');
	await page.getByRole('button', { name: 'Search' }).click();
	await expect(page.getByRole('list', { name: 'Where to buy' }).getByRole('listitem').first()).toContainText(
		'Lakeside Entebbe Pier'
	);
});

test('a place that is not known is said, and the list stays', async ({ page, portal }) => {
	await page.goto(`${portal.url}/?place=Atlantis`);
	await expect(page.getByRole('alert')).toContainText('We found no place with that name.');
	await expect(page.getByRole('list', { name: 'Where to buy' }).getByRole('listitem').first()).toBeVisible();
});

test('the position of the phone is asked for only when the person asks', async ({ browser, portal }) => {
	const context = await browser.newContext({
		geolocation: { latitude: 0.2907, longitude: 32.6545 },
		permissions: ['geolocation']
	});
	const page = await context.newPage();
	let asked = 0;
	await page.exposeFunction('countPositionRequest', () => (asked += 1));
	await page.addInitScript(() => {
		const real = navigator.geolocation.getCurrentPosition.bind(navigator.geolocation);
		navigator.geolocation.getCurrentPosition = (...args) => {
			void (Reflect.get(window, 'countPositionRequest') as () => Promise<void>)();
			real(...args);
		};
	});
	await page.goto(portal.url);
	await expect(page.locator('.leaflet-container')).toBeVisible();
	expect(asked).toBe(0);
	await page.getByRole('button', { name: 'Use my position' }).click();
	await expect(page.getByRole('list', { name: 'Where to buy' }).getByRole('listitem').first()).toContainText(
		'Port Bell Jetty Shop'
	);
	await expect(page.getByRole('listitem').filter({ hasText: 'Port Bell Jetty Shop' })).toContainText('Here');
	expect(asked).toBe(1);
	await context.close();
});

test('who keeps the position private reads another way, and no error', async ({ page, portal }) => {
	await page.goto(portal.url);
	await page.getByRole('button', { name: 'Use my position' }).click();
	const answer = page.getByText('Your position stays private. Type a place, or tap the map.');
	await expect(answer).toBeVisible();
	await expect(answer).not.toHaveClass(/error/);
});

test('a click on the map looks for Wi-Fi there', async ({ page, portal }) => {
	await page.goto(portal.url);
	const map = page.locator('.leaflet-container');
	await expect(map.locator('.mark > button').first()).toBeVisible();
	await map.click({ position: { x: 500, y: 60 } });
	await expect(page).toHaveURL(/lat=.*lon=/);
});
