/** Vouchers on paper: an owner prints forty, and a customer redeems one without script. */
import jsqr from 'jsqr';
import type { Page } from '@playwright/test';
import { readPixels } from '../../support/browsers/pixels.ts';
import { openMiniBrowser } from '../../support/browsers/mini-browser.ts';
import { registerGateway } from '../../support/gateways/gateways.ts';
import { startGateway } from '../../simulators/gateway/gateway.ts';
import { demoPassword } from '../support/developers.ts';
import { ownerSets } from '../support/offers.ts';
import { expect, test } from '../support/test.ts';

/** The function itself; some loaders put it one level deeper. */
const readQr = (jsqr as unknown as { default?: typeof jsqr }).default ?? jsqr;

/** Nobody else buys on this one. */
const ROUTER = 20;
/** Points of a PDF's page. */
const points = (millimetres: number) => (millimetres / 25.4) * 72;

async function signIn(page: Page, portal: { url: string; service: Parameters<typeof demoPassword>[0] }) {
	await page.goto(`${portal.url}/owner`);
	await page.getByLabel('Email address').fill('owner@airtill.example');
	await page.getByLabel('Password').fill(demoPassword(portal.service, 'owner@airtill.example'));
	await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Makes a batch and its print. */
async function print(
	page: Page,
	portal: { url: string },
	count: string,
	paper: string,
	offer = /Day/
): Promise<void> {
	await page.goto(`${portal.url}/owner/vouchers`);
	await page.getByText('Print new vouchers').click();
	const form = page.locator('form[action="?/make"]');
	const names = await form.getByLabel('Offer').locator('option').allInnerTexts();
	await form.getByLabel('Offer').selectOption(names.find((name) => offer.test(name)) ?? '');
	await form.getByLabel('How many').fill(count);
	await form.getByRole('button', { name: 'Continue' }).click();
	await page.locator('#paper').selectOption(paper);
	await page.getByRole('button', { name: 'Create the codes' }).click();
	await expect(page.locator('.ticket')).toHaveCount(Number(count));
}

/** Pages of a PDF, each as its size in millimetres. */
async function pagesOf(page: Page): Promise<[number, number][]> {
	const pdf = (await page.pdf({ preferCSSPageSize: true, printBackground: true })).toString('latin1');
	const boxes = [...pdf.matchAll(/\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/g)];
	return boxes.map(([, wide, tall]) => [
		Math.round((Number(wide) / points(1)) * 10) / 10,
		Math.round((Number(tall) / points(1)) * 10) / 10
	]);
}

/** What a camera reads off a card, and what is printed beside it. */
async function readCard(page: Page, index: number) {
	const card = page.locator('.ticket').nth(index);
	const { data, width, height } = await readPixels(await card.screenshot());
	return { address: readQr(data, width, height)?.data ?? '', code: await card.locator('.code').innerText() };
}

/** Parts of cards that are cut off, or lie on the picture. */
const countCutOff = (page: Page) =>
	page.locator('.ticket').evaluateAll(
		(cards) =>
			cards.flatMap((card) => {
				const frame = card.getBoundingClientRect();
				return [...card.querySelectorAll('.code, .qr, .how, .what')].filter((part) => {
					const box = part.getBoundingClientRect();
					const isOver = part.scrollWidth > part.clientWidth + 1 || part.scrollHeight > part.clientHeight + 1;
					return isOver || box.right > frame.right + 1 || box.bottom > frame.bottom + 1;
				});
			}).length
	);

test.describe('vouchers on paper', () => {
	test.use({ deviceScaleFactor: 3 });

	test('forty fit on a page of A4, and one is read off it and redeemed on a splash page without script', async ({
		page,
		portal,
		browser
	}) => {
		const gateway = await startGateway('opennds');
		const mini = await openMiniBrowser(browser, { javaScript: false });
		try {
			const { portal: address, secret } = await registerGateway(portal.service, 'opennds', {
				...{ loginHost: gateway.host, router: ROUTER }
			});
			gateway.connect({ portal: address, secret, ssid: 'Venue', passwordOf: async () => null });
			await ownerSets(portal, ROUTER, [{ name: 'Market day', duration: '1d', price: 1000, max_devices: 10 }]);
			await signIn(page, portal);
			await print(page, portal, '40', 'a4-40', /Market day/);
			await page.emulateMedia({ media: 'print' });
			expect(await pagesOf(page)).toHaveLength(1);
			expect(await countCutOff(page)).toBe(0);
			const read = await readCard(page, 17);
			expect(read.address).toBe(`${portal.url}/redeem?code=${read.code}`);

			await mini.page.goto(`${gateway.url}/hotspot-detect.html`);
			await mini.page.waitForURL(/\/splash\//);
			await mini.page.getByRole('link', { name: 'Paid already? Do not pay again. Enter your code' }).click();
			await mini.page.locator('input[name=code]').fill(read.code);
			await mini.page.getByRole('button', { name: 'Open my purchase' }).click();
			await mini.page.waitForURL(/\/s(\/[\w-]{24}){1,2}/);
			await expect(mini.page.getByRole('heading', { level: 1 })).toHaveText('You are online.');
			expect(gateway.isOnline).toBe(true);
		} finally {
			await mini.close();
			await gateway.stop();
		}
	});

	test('a phone that scans a printed code starts the time with one press', async ({
		page,
		portal,
		browser
	}) => {
		const router = 21;
		await ownerSets(portal, router, [{ name: 'Evening', duration: '4h', price: 700 }]);
		await signIn(page, portal);
		await print(page, portal, '1', 'r58', /Evening/);
		const { address } = await readCard(page, 0);
		const context = await browser.newContext({
			javaScriptEnabled: false,
			viewport: { width: 360, height: 640 }
		});
		const phone = await context.newPage();
		await phone.goto(address);
		await expect(phone.getByRole('note')).toContainText('Your time starts when you press the button');
		await phone.getByRole('button', { name: 'Start my time' }).click();
		await expect(phone.getByRole('heading', { level: 1 })).toContainText('Your Wi‑Fi is paid until');
		await context.close();
	});

	for (const [paper, size, count] of [
		['a4-24', [210, 297], 24],
		['r58', [58, 90], 2],
		['r80', [80, 95], 2]
	] as const) {
		test(`${paper}: nothing is cut off, and a camera reads each code`, async ({ page, portal }) => {
			await ownerSets(portal, ROUTER, [
				{ name: 'Day for the whole office', duration: '1d', price: 1000, max_devices: 10 }
			]);
			await signIn(page, portal);
			await print(page, portal, String(count), paper);
			await page.emulateMedia({ media: 'print' });
			const pages = await pagesOf(page);
			expect(pages).toHaveLength(paper === 'a4-24' ? 1 : count);
			for (const one of pages)
				for (const side of [0, 1] as const) expect(Math.abs((one[side] ?? 0) - size[side])).toBeLessThan(0.6);
			expect(await countCutOff(page)).toBe(0);
			const { address, code } = await readCard(page, count - 1);
			expect(address).toBe(`${portal.url}/redeem?code=${code}`);
		});
	}
});
