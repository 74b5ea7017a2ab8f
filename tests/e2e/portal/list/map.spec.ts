import type { Page } from '@playwright/test';
import { findings } from '../../../support/browsers/axe.ts';
import { PERTH_CENTRE, realBasemap } from '../../../support/pages/basemap.ts';
import { startServer } from '../../../support/server/server.ts';
import { coloursOf, CROWD, importRouters, placesOnMap, pullAbout } from '../../support/map.ts';
import { expect as impatient, test } from '../../support/test.ts';

/** Pictures are fetched and drawn: a busy machine needs longer for it than for a page. */
const expect = impatient.configure({ timeout: 20_000 });

const mapOf = (page: Page) => page.locator('.leaflet-container');

/** Opens the list with its map; collects hosts that were asked and complaints of the browser. */
async function open(page: Page, url: string) {
	const hosts = new Set<string>();
	const complaints: string[] = [];
	page.on('request', (request) => hosts.add(new URL(request.url()).host));
	page.on('console', (message) => {
		if (/Content Security Policy|Uncaught/.test(message.text())) complaints.push(message.text());
	});
	page.on('pageerror', (error) => complaints.push(error.message));
	// Less motion is less waiting.
	await page.emulateMedia({ reducedMotion: 'reduce' });
	await page.goto(url);
	await expect(mapOf(page)).toBeVisible();
	return { hosts, complaints };
}

async function zoomOut(page: Page, times: number) {
	for (let time = 0; time < times; time += 1) {
		await page.locator('.leaflet-control-zoom-out').click();
		// A click during the animation would be lost.
		await expect(page.locator('.leaflet-zoom-anim')).toHaveCount(0);
	}
}

/** Zooms out until the whole crowd is on the map. */
async function zoomOutToCrowd(page: Page) {
	await expect(async () => {
		await zoomOut(page, 1);
		await expect.poll(() => placesOnMap(mapOf(page)), { timeout: 2_000 }).toBeGreaterThanOrEqual(CROWD);
	}).toPass({ timeout: 60_000 });
}

test.describe('the ground', () => {
	test('of a PMTiles file is drawn from this host alone, in both themes, with its attribution', async ({
		page
	}) => {
		const file = realBasemap();
		test.skip(file === null, 'needs ../shared/data/perth-basemap.pmtiles, which this clone does not have');
		const server = await startServer({ env: { BASEMAP: file ?? '', MAP_CENTRE: PERTH_CENTRE } });
		try {
			await importRouters(server, 3, { lat: -31.915, lon: 115.795 }, 0.004);
			const ranges: number[] = [];
			page.on('response', (response) => {
				if (response.url().includes('tiles.pmtiles')) ranges.push(response.status());
			});
			const { hosts, complaints } = await open(page, server.url);
			const tiles = '.leaflet-tile-container canvas';
			await expect.poll(() => coloursOf(page, tiles)).toBeGreaterThan(6);
			await expect(mapOf(page)).toContainText('© OpenStreetMap contributors');
			const light = await page
				.locator(tiles)
				.first()
				.evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());
			await page.emulateMedia({ colorScheme: 'dark' });
			await expect
				.poll(
					async () =>
						(await coloursOf(page, tiles)) > 6 &&
						page
							.locator(tiles)
							.first()
							.evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL())
				)
				.not.toBe(light);
			expect(new Set(ranges)).toEqual(new Set([206]));
			expect([...hosts]).toEqual([new URL(server.url).host]);
			expect(complaints).toEqual([]);
		} finally {
			await server.stop();
		}
	});

	test('without a file is prices, rings with their distance, and the neighbourhoods of the addresses', async ({
		page,
		portal
	}) => {
		const { complaints } = await open(page, `${portal.url}/fr`);
		const map = mapOf(page);
		await expect(map.locator('.mark > .price.listed').first()).toHaveText(/^\d+/);
		await expect(map.locator('.ring-text').first()).toHaveText(/^[\d,]+\s?k?m$/);
		await expect(map.locator('.neighbourhood bdi', { hasText: 'Naguru Hill' })).toBeVisible();
		const name = map.locator('.mark .name').first();
		await expect(name).toBeHidden();
		for (let time = 0; time < 4; time += 1) await page.locator('.leaflet-control-zoom-in').click();
		await expect(map).toHaveClass(/ named/);
		expect(complaints).toEqual([]);
	});

	test('goes on across the 180th meridian, with its marks', async ({ page }) => {
		const server = await startServer();
		try {
			await importRouters(server, 4, { lat: -16.9, lon: 179.999 }, 0.008, 'Waiyevo, Taveuni');
			await open(page, `${server.url}/?lat=-16.9&lon=179.999`);
			const map = mapOf(page);
			await expect(map.locator('.mark > .price')).toHaveCount(4);
			for (const mark of await map.locator('.mark > .price').all()) await expect(mark).toBeInViewport();
			await expect(map.locator('.leaflet-control-scale-line')).toHaveText(/^\d+ k?m$/);
			await expect(map.locator('.neighbourhood bdi', { hasText: 'Waiyevo' })).toBeVisible();
		} finally {
			await server.stop();
		}
	});

	test('is in no first answer: the page can be read and used before anything of the map comes', async ({
		page,
		portal
	}) => {
		const html = await (await fetch(portal.url)).text();
		expect(html).not.toMatch(/leaflet|RouterMap|\.leaf\b/i);
		await page.route(/basemap|leaflet/i, (route) => route.abort());
		await page.goto(portal.url);
		await expect(
			page.getByRole('list', { name: 'Where to buy' }).getByRole('listitem').first()
		).toBeVisible();
	});
});

test('thousands of places lie in groups that a keyboard opens', async ({ page, crowd }) => {
	await open(page, crowd.url);
	const map = mapOf(page);
	await zoomOut(page, 3);
	await zoomOutToCrowd(page);
	expect(await map.locator('.mark').count()).toBeLessThan(150);

	const group = map.getByRole('button', { name: /^[\d,]+ places$/ }).first();
	await group.focus();
	await page.keyboard.press('Enter');
	await expect(
		page.getByRole('status').filter({ hasText: /^Places on this part of the map: [\d,]+$/ })
	).toBeAttached();
	expect(await map.evaluate((element) => element.contains(document.activeElement))).toBe(true);

	expect(await findings(page, {}, '#map')).toEqual([]);
});

test('a price on the map opens a card with the way to buy, and Escape leads back to it', async ({
	page,
	portal
}) => {
	await open(page, portal.url);
	const mark = mapOf(page).getByRole('button', { name: /^Naguru/ });
	await mark.click();
	const card = page.getByRole('region', { name: /^Naguru/ });
	await expect(card).toContainText(/UGX\s500 an hour · [\d.]+\skm/);
	await expect(card.getByRole('link', { name: 'Buy' })).toBeFocused();
	expect(await findings(page, {}, '#map')).toEqual([]);
	await page.keyboard.press('Escape');
	await expect(card).toHaveCount(0);
	await expect(mark).toBeFocused();
	await mark.press('Enter');
	await page.keyboard.press('Enter');
	await expect(page).toHaveURL(/\/r\/\d+$/);
});

test('on a phone the map opens above the list when it is asked for, and no sooner', async ({
	page,
	portal
}) => {
	await page.setViewportSize({ width: 360, height: 640 });
	await page.goto(portal.url);
	await expect(page.locator('#map')).toBeHidden();
	await page.getByRole('link', { name: 'See the map' }).click();
	await expect(mapOf(page)).toBeInViewport();
	await page.getByRole('link', { name: 'Back to the list' }).click();
	await expect(page.locator('#map')).toBeHidden();
	await expect(
		page.getByRole('list', { name: 'Where to buy' }).getByRole('listitem').first()
	).toBeInViewport();
});

test('a row of the list stands out on the map, and a moved map searches there', async ({ page, crowd }) => {
	await open(page, crowd.url);
	const map = mapOf(page);
	const list = page.getByRole('list', { name: 'Where to buy' });
	await list.getByRole('listitem').first().hover();
	await expect(map.locator('.mark > .marked')).toHaveCount(1);

	const first = await list.getByRole('listitem').first().innerText();
	await expect(page.getByRole('button', { name: 'Search here' })).toHaveCount(0);
	const box = await map.boundingBox();
	if (!box) throw new Error('There is no map');
	await page.mouse.move(box.x + box.width - 20, box.y + box.height / 2);
	await page.mouse.down();
	await page.mouse.move(box.x + 20, box.y + box.height / 2, { steps: 10 });
	await page.mouse.up();
	await page.getByRole('button', { name: 'Search here' }).click();
	await expect(page).toHaveURL(/lat=.*lon=/);
	await expect(list.getByRole('listitem').first()).not.toHaveText(first);
	await expect(page.getByRole('button', { name: 'Search here' })).toHaveCount(0);
});

test('thousands of places make the map hardly slower than none', async ({ page, crowd }) => {
	test.slow();
	// Far from every place.
	await open(page, `${crowd.url}/?lat=10&lon=-140`);
	await expect(page.locator('.leaflet-overlay-pane .ring')).not.toHaveCount(0);
	const empty = await pullAbout(page, mapOf(page));

	await open(page, crowd.url);
	const map = mapOf(page);
	await zoomOut(page, 3);
	await zoomOutToCrowd(page);
	const crowded = await pullAbout(page, map);
	console.log(
		`frames while pulling: empty ${JSON.stringify(empty)}, ${CROWD} places ${JSON.stringify(crowded)}`
	);
	// Generous, because other work shares the machine; drawing each place by itself takes a second and more.
	expect(crowded.medianFrameMs).toBeLessThan(empty.medianFrameMs + 50);
	expect(crowded.worstTaskMs).toBeLessThan(empty.worstTaskMs + 500);
});

test('nothing moves by itself for those who want less motion, and a map is left by one key', async ({
	page,
	portal
}) => {
	await page.emulateMedia({ forcedColors: 'active' });
	await open(page, portal.url);
	const classes = (await mapOf(page).getAttribute('class')) ?? '';
	expect(classes).not.toMatch(/leaflet-(fade-anim|zoom-anim)/);
	await page.getByRole('link', { name: 'Skip the map' }).focus();
	await page.keyboard.press('Enter');
	await page.keyboard.press('Tab');
	expect(await page.locator('#map').evaluate((element) => element.contains(document.activeElement))).toBe(
		false
	);
});

test('a page that is written from right to left has the controls on its side', async ({ page, portal }) => {
	await open(page, `${portal.url}/ar`);
	await expect(page.locator('.leaflet-right .leaflet-control-zoom')).toBeVisible();
	await expect(page.locator('.leaflet-right .leaflet-control-scale')).toBeVisible();
});
