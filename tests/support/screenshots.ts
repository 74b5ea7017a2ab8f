/**
 * Makes the README's picture (`npm run screenshots`, after a build): the way through a purchase on a phone, from
 * a sandbox of its own.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type Page } from '@playwright/test';
import { ensureBrowser } from './browser.js';
import { startServer } from './server.ts';

const folder = fileURLToPath(new URL('../screenshots/', import.meta.url));
const PHONE = { width: 360, height: 640 };
const GAP = 24;

/** One picture for each step of a purchase. */
async function purchase(page: Page, url: string): Promise<Buffer[]> {
	const pictures: Buffer[] = [];
	const take = async () => pictures.push(await page.screenshot());
	await page.goto(url);
	await page.locator('.leaflet-container').waitFor();
	await take();
	await page.goto(`${url}/r/3`);
	await page.getByLabel('Your mobile-money number').fill('0772 123 456');
	await take();
	await page.getByRole('button', { name: /^Pay/ }).click();
	await page.getByRole('heading', { name: 'Check your phone.' }).waitFor();
	await take();
	await page.getByRole('heading', { name: /^You are paid until/ }).waitFor();
	await take();
	return pictures;
}

/** Pictures side by side. */
async function sideBySide(browser: Browser, pictures: readonly Buffer[]): Promise<Buffer> {
	const width = pictures.length * (PHONE.width + GAP) + GAP;
	const page = await browser.newPage({ viewport: { width, height: PHONE.height + 2 * GAP } });
	const images = pictures.map(
		(picture) => `<img width="${PHONE.width}" src="data:image/png;base64,${picture.toString('base64')}">`
	);
	await page.setContent(
		`<body style="margin:0;padding:${GAP}px;display:flex;gap:${GAP}px;background:#dcdad2">${images.join('')}</body>`
	);
	return page.screenshot();
}

const server = await startServer();
const browser = await chromium.launch({
	executablePath: await ensureBrowser(),
	args: process.getuid?.() === 0 ? ['--no-sandbox'] : []
});
try {
	const page = await browser.newPage({ viewport: PHONE, deviceScaleFactor: 2, colorScheme: 'light' });
	const picture = await sideBySide(browser, await purchase(page, server.url));
	mkdirSync(folder, { recursive: true });
	writeFileSync(`${folder}purchase.png`, picture);
} finally {
	await browser.close();
	await server.stop();
}
