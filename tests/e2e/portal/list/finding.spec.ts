import { expect, test } from '../../support/test.ts';

test.describe('without script', () => {
	test.use({ javaScriptEnabled: false });

	test('the list begins around the centre, nearest first, and then where a name or a position says', async ({
		page,
		portal
	}) => {
		const first = page.getByRole('list', { name: 'Where to buy' }).getByRole('listitem').first();
		const find = async (place: string) => {
			await page.getByLabel('Where are you?').fill(place);
			await page.getByRole('button', { name: 'Search' }).click();
		};
		await page.goto(portal.url);
		await expect(first).toContainText('Kamwokya Barber & Net');
		await expect(first).toContainText(/UGX\s250/);
		await expect(first).toContainText('Barber&Net');
		await expect(first).toContainText(/\d+ m/);
		await find('makerere hill');
		await expect(first).toContainText('Makerere Gate Print Shop');
		await find('0.0593, 32.4631');
		await expect(first).toContainText('Lakeside Entebbe Pier');
		await find('Atlantis');
		await expect(page.getByRole('alert')).toContainText('We found no place with that name.');
		await expect(first).toBeVisible();
	});
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

test('a question for the position that nobody answers ends', async ({ page, portal }) => {
	await page.addInitScript(() => (navigator.geolocation.getCurrentPosition = () => {}));
	await page.clock.install();
	await page.goto(portal.url);
	const ask = page.getByRole('button', { name: 'Use my position' });
	await ask.click();
	await expect(page.getByRole('button', { name: 'Finding your position…' })).toBeVisible();
	await page.clock.runFor(26_000);
	await expect(page.getByText('We can’t find your position.')).toBeVisible();
	await expect(ask).toBeEnabled();
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
