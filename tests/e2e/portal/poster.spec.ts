/** The venue's poster: what comes out of the printer, and what a camera reads off it. */
import jsqr from 'jsqr';
import type { Page } from '@playwright/test';
import { readPixels } from '../../support/browsers/pixels.ts';
import { registerGateway } from '../../support/gateways/gateways.ts';
import { openSql } from '../../support/database/sql.ts';
import { ownerSets } from '../support/offers.ts';
import { expect, ROUTER, test } from '../support/test.ts';

/** The function itself; some loaders put it one level deeper. */
const readQr = (jsqr as unknown as { default?: typeof jsqr }).default ?? jsqr;

/** Millimetres as pixels of CSS. */
const px = (millimetres: number) => Math.floor((millimetres / 25.4) * 96);
/** Points of a PDF's page, give or take the rounding to pixels. */
const points = (millimetres: number) => (millimetres / 25.4) * 72;

/** Millimetres of A4. */
const [WIDTH, HEIGHT] = [210, 297];

const LANGUAGES = ['en', 'ar', 'am', 'fr'];

const NAMES = [
	'Kisementi Corner',
	'مقهى الرافعة الزرقاء',
	'The Very Long Named Guest House and Conference Centre of Saint Bartholomew on the Northern Hill, Annex Building B, Second Floor',
	'Averylongnamewithoutanyblankinitthatnobodywouldeverthinkofbutthatsomebodytypesnevertheless'
];
const SSID = 'A "quoted" \\;, <b>SSID</b> of 32!!';

/** One page of A4. */
async function expectOnePage(page: Page): Promise<void> {
	const pdf = (await page.pdf({ preferCSSPageSize: true, printBackground: true })).toString('latin1');
	const boxes = [...pdf.matchAll(/\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/g)];
	expect(boxes).toHaveLength(1);
	expect(Math.abs(Number(boxes[0]?.[1]) - points(WIDTH))).toBeLessThan(1.5);
	expect(Math.abs(Number(boxes[0]?.[2]) - points(HEIGHT))).toBeLessThan(1.5);
	expect(pdf.match(/\/Type \/Page\b(?!s)/g)).toHaveLength(1);
}

/** Nothing lies on anything else, and nothing is cut off. */
async function expectWhole(page: Page): Promise<void> {
	const faults = await page.locator('.sheet').evaluate((sheet) => {
		const found: string[] = [];
		const frame = sheet.getBoundingClientRect();
		const parts = [...sheet.querySelectorAll('.name, .offer, .qr, .scan .address, .network, .how, .till')];
		for (const [index, part] of parts.entries()) {
			const box = part.getBoundingClientRect();
			const next = parts[index + 1]?.getBoundingClientRect();
			if (next && next.top < box.bottom - 1) found.push(`${part.className} lies on what follows it`);
			if (box.left < frame.left || box.right > frame.right + 1 || box.bottom > frame.bottom + 1) {
				found.push(`${part.className} is cut off`);
			}
		}
		return found;
	});
	expect(faults).toEqual([]);
}

/** Prints the poster of a router: one page, on which a camera reads the short address. */
async function expectPrinted(page: Page, url: string, router: number, language: string): Promise<void> {
	await page.emulateMedia({ media: 'print' });
	await page.setViewportSize({ width: px(WIDTH), height: px(HEIGHT) });
	await page.goto(`${url}/${language}/r/${router}/poster`);
	await expectWhole(page);
	await expectOnePage(page);
	const { data, width, height } = await readPixels(await page.screenshot());
	expect(readQr(data, width, height)?.data).toBe(`${url}/r/${router}`);
}

test('prints on one page, and a camera reads the short address off it', async ({ page, portal }) => {
	const sql = await openSql(portal.service.databaseUrl);
	const before = await sql.all('select name, ssid from routers where id = ?', ROUTER);
	const rename = (name: string, ssid: string) =>
		sql.run('update routers set name = ?, ssid = ? where id = ?', name, ssid, ROUTER);
	try {
		for (const [index, language] of LANGUAGES.entries()) {
			await rename(NAMES[index] ?? '', SSID);
			await expectPrinted(page, portal.url, ROUTER, language);
			const sheet = page.locator('.sheet');
			for (const text of [NAMES[index] ?? '', SSID, '500']) await expect(sheet).toContainText(text);
			await expect(sheet.getByRole('listitem').first()).toBeVisible();
			await expect(page.getByRole('banner')).toBeHidden();
			const address = `${portal.url.replace('http://', '')}/r/${ROUTER}`;
			expect((await sheet.locator('.address').innerText()).replace(/\s/g, '')).toBe(address);
		}
	} finally {
		for (const { name, ssid } of before) await rename(String(name), String(ssid));
		await sql.close();
	}
});

test('has room for three offers in two languages', async ({ page, portal }) => {
	const router = 8;
	await ownerSets(portal, router, [
		{ name: 'Half an hour between two minibuses', duration: '30m', price: 200 },
		{ name: 'Day for the whole office and its guests', duration: '1d', price: 1000 },
		{ name: 'Month with five devices for a big family', duration: '30d', price: 18_000 }
	]);
	for (const language of ['fr', 'ar', 'lg']) {
		await expectPrinted(page, portal.url, router, language);
		await expect(page.locator('.offer .price')).toHaveCount(3);
	}
});

test('where a captive portal sells, the code joins the open network first; elsewhere mobile data is needed', async ({
	page,
	portal
}) => {
	const open = 12;
	await registerGateway(portal.service, 'opennds', { loginHost: '10.5.50.1', router: open });
	await page.goto(`${portal.url}/en/r/${open}/poster`);
	const steps = page.locator('.how li');
	await expect(steps).toHaveText([/^Connect to the Wi‑Fi/, /^The page opens/, /^Choose a time and pay/]);
	const { data, width, height } = await readPixels(await page.locator('.sheet').screenshot());
	expect(readQr(data, width, height)?.data).toBe('WIFI:T:nopass;S:Youth-Kyebando;;');
	await page.goto(`${portal.url}/en/r/${ROUTER}/poster`);
	await expect(steps.first()).toContainText('With mobile data, scan');
	await page.emulateMedia({ media: 'print' });
	await expect(page.locator('.sheet')).toContainText('Test mode: no real money');
});

test('is in the reader’s language and English', async ({ browser, portal }) => {
	const context = await browser.newContext({ locale: 'ar', javaScriptEnabled: false });
	const page = await context.newPage();
	await page.goto(`${portal.url}/r/${ROUTER}/poster`);
	const lists = page.locator('.how ol');
	expect(
		await lists.evaluateAll((all) =>
			all.map((one) => `${one.getAttribute('lang')} ${one.getAttribute('dir')}`)
		)
	).toEqual(['ar rtl', 'en ltr']);
	await page.goto(`${portal.url}/en/r/${ROUTER}/poster`);
	expect(await lists.evaluateAll((all) => all.map((one) => one.getAttribute('lang')))).toEqual(['en']);
	for (const id of ['999999', 'abc']) {
		expect((await page.goto(`${portal.url}/r/${id}/poster`))?.status()).toBe(404);
	}
	await context.close();
});
