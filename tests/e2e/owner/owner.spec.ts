/** A router owner with a phone: reads what came in, sees who is online, changes the price, prints, exports. */
import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { isAll } from '../../support/all.ts';
import { pngOf } from '../../support/pages/logos.ts';
import { openSql } from '../../support/database/sql.ts';
import { demoKey } from '../support/portal.ts';
import type { Area } from '../support/area.ts';
import { another, demoPassword, test, title } from '../support/developers.ts';
import { expect, freshNumber } from '../support/test.ts';

/** Nobody else buys on this one. */
const ROUTER = 7;
const PHONE = { viewport: { width: 360, height: 640 } };
const day = 24 * 60 * 60_000;
/** Noon in Kampala, UTC: no test stands beside a midnight. */
const noon = 9 * 60 * 60_000;

async function untilNoon({ server }: Area): Promise<void> {
	const now = server.now();
	await server.advance((((noon - now) % day) + day) % day);
}

async function signIn(page: Page, area: Area): Promise<void> {
	await page.goto(`${area.url}/owner`);
	await page.getByLabel('Email address').fill('owner@airtill.example');
	await page.getByLabel('Password').fill(demoPassword(area.server, 'owner@airtill.example'));
	await page.getByRole('button', { name: 'Sign in' }).click();
	await expect(page.getByRole('region', { name: 'Today' })).toBeVisible();
}

/** Buys time by the API. @returns what it cost */
async function buy(area: Area, duration: string): Promise<number> {
	const call = async (method: string, path: string, body?: object) => {
		const response = await fetch(`${area.server.url}/v1${path}`, {
			method,
			headers: {
				authorization: `Bearer ${demoKey(area.server, 'app')}`,
				'content-type': 'application/json'
			},
			...(body ? { body: JSON.stringify(body) } : {})
		});
		return (await response.json()) as { id: number; amount: number; phone: string; status: string };
	};
	const order = { router_id: ROUTER, duration, payment_method: 'mobile_money', phone: freshNumber('008') };
	const session = await call('POST', '/sessions', order);
	const { amount, phone } = session;
	const { id } = await call('POST', '/payments/mobile-money', { amount, phone, session_id: session.id });
	expect((await call('GET', `/payments/${id}/status?wait=20`)).status).toBe('success');
	return amount;
}

const amounts = async (page: Page, selector: string) =>
	(await page.locator(selector).allInnerTexts()).map((text) =>
		Number(text.replace('−', '-').replace(/[^\d-]/g, ''))
	);

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);

for (const javaScriptEnabled of isAll ? [true, false] : [true]) {
	test.describe(javaScriptEnabled ? 'with script' : 'without script', () => {
		test.use({ javaScriptEnabled, ...PHONE });

		test('an owner reads figures that are the payments made, to the last coin', async ({ page, area }) => {
			await untilNoon(area);
			await area.server.advance(day);
			const paid = [await buy(area, '1h'), await buy(area, '30m'), await buy(area, '2h')];
			const net = sum(paid.map((amount) => amount - Math.floor(amount / 10 + 0.5)));
			await signIn(page, area);
			const today = page.getByRole('region', { name: 'Today' });
			await expect(today.locator('.net b')).toHaveText(`UGX ${net.toLocaleString('en')}`);
			await expect(today).toContainText(`UGX ${sum(paid).toLocaleString('en')}`);
			await expect(page.getByRole('heading', { name: 'Active: 3' })).toBeVisible();
			// "Today" fits on two screens of a small phone.
			expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(1200);
			await today.getByRole('link').first().click();
			await expect(page.locator('.net b')).toHaveText(`UGX ${net.toLocaleString('en')}`);
			const lines = await amounts(page, '.booked td:last-child');
			expect(lines).toHaveLength(3);
			expect(sum(lines)).toBe(net);

			const [file] = await Promise.all([
				page.waitForEvent('download'),
				page.getByRole('link', { name: 'Download CSV' }).click()
			]);
			const [header, ...rows] = readFileSync(await file.path(), 'utf8')
				.replace('\ufeff', '')
				.trimEnd()
				.split('\r\n');
			const at = header?.split(',').indexOf('Net') ?? -1;
			expect(sum(rows.map((row) => Number(row.split(',')[at])))).toBe(net);
			// Nothing on a phone runs out of the screen.
			expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
		});

		test('an owner changes the price, and buyers see it', async ({ page, area, browser }) => {
			await signIn(page, area);
			await page.goto(`${area.url}/owner/routers/${ROUTER}`);
			await page.getByText('Change the price').click();
			const [before = 0] = await amounts(page, '.net b');
			const wanted = before + 150;
			await page.getByLabel(/^New price/).fill(String(wanted));
			await page.getByRole('button', { name: 'Save' }).click();
			await expect(page.getByRole('status')).toHaveText(`The price is now UGX ${wanted} an hour.`);
			await another(browser, async (buyer) => {
				await buyer.goto(`${area.url}/r/${ROUTER}`);
				await expect(buyer.getByText(`UGX ${wanted} an hour`).first()).toBeAttached();
			});
			await page.getByRole('link', { name: 'Poster A4, for the wall' }).click();
			await expect(page.locator('.sheet')).toContainText(`UGX ${wanted} an hour`);
			await page.goBack();
			await page.getByRole('link', { name: 'Set up the tablet' }).click();
			await expect(title(page)).toHaveText(/^Kiosk for /);
		});
	});
}

test.describe('at the router', () => {
	test.use({
		...PHONE,
		geolocation: { latitude: -0.2907, longitude: 32.6545 },
		permissions: ['geolocation']
	});

	test('an owner fills in the position of the phone, and taps the map to correct it', async ({
		page,
		area
	}) => {
		await signIn(page, area);
		await page.goto(`${area.url}/owner/routers/${ROUTER}/edit`);
		await page.getByRole('button', { name: 'Use my position' }).click();
		await expect(page.getByLabel('Latitude')).toHaveValue('-0.2907');
		await expect(page.getByLabel('Longitude')).toHaveValue('32.6545');

		await page.locator('.pick').scrollIntoViewIfNeeded();
		const map = page.locator('.leaflet-container');
		await expect(map.locator('.here')).toBeVisible({ timeout: 20_000 });
		const { width, height } = (await map.boundingBox()) ?? { width: 0, height: 0 };
		// The position of the phone is in the middle.
		await map.click({ position: { x: width / 2 + 60, y: height / 2 } });
		await expect(page.getByLabel('Longitude')).not.toHaveValue('32.6545');
		const tapped = ['Latitude', 'Longitude'].map((label) => page.getByLabel(label).inputValue());
		const [lat = 0, lon = 0] = (await Promise.all(tapped)).map(Number);
		expect(lat).toBeCloseTo(-0.2907, 4);
		expect(lon).toBeCloseTo(32.6551, 3);
		await page.getByRole('button', { name: 'Save' }).first().click();
		await expect(page.getByRole('status')).toHaveText('The router is saved.');
	});
});

test.describe('without script', () => {
	test.use({ javaScriptEnabled: false, ...PHONE });

	test('an owner types a price list and saves it with Enter', async ({ page, area }) => {
		await signIn(page, area);
		await page.goto(`${area.url}/owner/routers/${ROUTER}/offers`);
		const offer = (index: number) => page.locator('fieldset.offer').nth(index);
		const list = [
			['30', 'minutes', '200'],
			['1', 'hours', '500'],
			['1', 'days', '1,000'],
			['1', 'weeks', '5,000'],
			['30', 'days', '18,000']
		] as const;
		for (const [index, [count, unit, price]] of list.entries()) {
			// A price list needs no choice of units.
			await expect(offer(index).getByLabel('Unit')).toHaveValue(unit.slice(0, 1));
			await offer(index).getByLabel('How long').fill(count);
			await offer(index).getByLabel('Price').fill(price);
		}
		await offer(2).getByText('Name, devices, limits').click();
		await offer(2).getByLabel('Devices').fill('3');
		expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
		await offer(4).getByLabel('Price').press('Enter');
		await expect(page.getByRole('status')).toHaveText('The offers are saved.');
		for (const [index, [count, , price]] of list.entries()) {
			await expect(offer(index).getByLabel('How long')).toHaveValue(count);
			await expect(offer(index).getByLabel('Price')).toHaveValue(price.replace(',', ''));
		}
		const sql = await openSql(area.server.databaseUrl);
		await sql.run(`update routers set offers = '[]' where id = ?`, ROUTER);
		await sql.close();
	});

	test('an owner’s name, logo and colour are on the buyer’s page, and Airtill’s beside them', async ({
		page,
		area,
		browser
	}) => {
		await signIn(page, area);
		await page.goto(`${area.url}/owner/settings?show=brand`);
		await page.getByLabel('Name').fill('Blue Crane');
		// The form notices the colour, although "Airtill green" stays selected.
		await page.locator('[type=color]').fill('#ffcc00');
		await page.getByLabel('Logo').setInputFiles({
			name: 'logo.png',
			mimeType: 'image/png',
			buffer: pngOf(10, 10)
		});
		await page.getByRole('button', { name: 'Save' }).click();
		await expect(page.getByRole('status')).toHaveText('Saved. This is how it looks:');
		await another(browser, async (buyer) => {
			for (const scheme of ['light', 'dark'] as const) {
				await buyer.emulateMedia({ colorScheme: scheme });
				await buyer.goto(`${area.url}/r/${ROUTER}`);
				await expect(buyer.getByRole('banner')).toContainText('Blue Crane');
				await expect(buyer.getByRole('banner').getByRole('link', { name: 'Airtill' })).toBeVisible();
				const drawn = await buyer.locator('.owner img').evaluate((image) => {
					const { complete, naturalWidth } = image as HTMLImageElement;
					return complete && naturalWidth > 0;
				});
				expect(drawn).toBe(true);
				const pay = buyer.getByRole('button', { name: /^Pay/ });
				const colour = await pay.evaluate((button) => getComputedStyle(button).backgroundColor);
				expect(colour).toBe(scheme === 'dark' ? 'rgb(255, 204, 0)' : 'rgb(133, 106, 0)');
			}
		});
		await page.getByLabel('Name').fill('');
		await page.getByLabel('Airtill green').check();
		await page.getByLabel('Remove the logo').check();
		await page.getByRole('button', { name: 'Save' }).click();
		const sql = await openSql(area.server.databaseUrl);
		const kept = await sql.count(
			'select count(*) from brands where name is not null or logo_file is not null'
		);
		await sql.close();
		expect(kept).toBe(0);
	});
});

test.describe('with script', () => {
	test.use(PHONE);

	test('choosing a colour selects it, and Airtill’s colour shows its own again', async ({ page, area }) => {
		await signIn(page, area);
		await page.goto(`${area.url}/owner/settings?show=brand`);
		const own = page.getByRole('radio', { name: /^Your own colour/ });
		const colour = page.locator('[type=color]');
		await colour.fill('#aa2200');
		await expect(own).toBeChecked();
		await page.getByLabel('Airtill green').check();
		await expect(colour).toHaveValue('#0a6b4b');
	});
});

test.describe('on a desk', () => {
	test.use({ viewport: { width: 1440, height: 900 } });

	test('"Today" has its figures beside the active customers', async ({ page, area }) => {
		await signIn(page, area);
		const [left, right] = await Promise.all([
			page.getByRole('region', { name: 'Today' }).boundingBox(),
			page.getByRole('region', { name: /^Active: / }).boundingBox()
		]);
		expect(right?.x).toBeGreaterThan((left?.x ?? 0) + (left?.width ?? 0));
		expect(right?.y).toBeLessThan((left?.y ?? 0) + (left?.height ?? 0));
	});
});
