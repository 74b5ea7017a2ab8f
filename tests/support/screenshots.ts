/**
 * Makes the README's pictures (`npm run screenshots`, after a build) from a sandbox of its own. With `-- --all FOLDER`
 * it takes every page instead, at the size of a phone, a tablet and a desk, light and dark, in English and Arabic, into that
 * folder: to be looked at. `--only TEXT` takes those whose name begins so.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium, type Browser, type Page } from '@playwright/test';
import { findPlace, inLanguage, PAGES, TRANSLATED, visit, type Place } from '../e2e/support/pages.ts';
import { startPurchaseFixtures } from '../e2e/support/purchase-fixtures.ts';
import { ensureBrowser } from './programs.js';

const FOLDER = fileURLToPath(new URL('../screenshots/', import.meta.url));
const PHONE = { width: 360, height: 640 };
const TABLET = { width: 800, height: 1280 };
const DESK = { width: 1280, height: 800 };
const SIZES = [PHONE, { width: 820, height: 1180 }, { width: 1440, height: 900 }];
const GAP = 24;

type Theme = 'light' | 'dark';

interface Shot {
	/** Name of the page in tests/e2e/support/pages.ts. */
	page: string;
	size?: typeof PHONE;
	theme?: Theme;
	locale?: string;
	act?(page: Page): Promise<unknown>;
	/** A part of the page instead of what a screen shows. */
	part?: string;
}

const typeNumber = (page: Page) => page.locator('#phone').fill('0772 123 456');
const untilMapped = (page: Page) => page.locator('.leaflet-container .leaflet-marker-icon').first().waitFor();

/** Each picture of the README: pages side by side. */
const PICTURES: Readonly<Record<string, readonly Shot[]>> = {
	purchase: [
		{ page: 'list' },
		{ page: 'router', act: typeNumber },
		{ page: 'purchase: waiting' },
		{ page: 'purchase: active' }
	],
	entrances: [
		{ page: 'splash' },
		{ page: 'kiosk', size: TABLET },
		{ page: 'poster', size: DESK, part: '.sheet' }
	],
	languages: [
		{ page: 'router', locale: 'ar', act: typeNumber },
		{ page: 'purchase: waiting', locale: 'am', theme: 'dark' },
		{ page: 'purchase: declined', locale: 'fr' },
		{ page: 'purchase: active', locale: 'sw', theme: 'dark' }
	],
	wide: [
		{ page: 'list', size: DESK, act: untilMapped },
		{ page: 'owner', theme: 'dark' }
	]
};

const fixtures = await startPurchaseFixtures();
const browser = await chromium.launch({
	executablePath: await ensureBrowser(),
	args: process.getuid?.() === 0 ? ['--no-sandbox'] : []
});

async function take({ page: name, size = PHONE, theme = 'light', locale, act, part }: Shot): Promise<Buffer> {
	const place = findPlace(name);
	const page = await browser.newPage({ viewport: size, deviceScaleFactor: 2, colorScheme: theme });
	await visit(page, fixtures, locale ? inLanguage(place, locale) : place);
	await act?.(page);
	const picture = await (part ? page.locator(part) : page).screenshot();
	await page.close();
	return picture;
}

/** Pages beside each other, all as high as a phone. */
async function sideBySide(browser: Browser, shots: readonly Shot[]): Promise<Buffer> {
	const page = await browser.newPage();
	const images: string[] = [];
	for (const shot of shots) {
		const picture = (await take(shot)).toString('base64');
		images.push(`<img height="${PHONE.height}" src="data:image/png;base64,${picture}">`);
	}
	await page.setContent(
		`<body style="margin:0"><div style="display:inline-flex;gap:${GAP}px;padding:${GAP}px;background:#dcdad2">${images.join('')}`
	);
	return page.locator('div').screenshot();
}

/** One page at one size, whole. */
async function takeWhole(page: Page, place: Place, file: string): Promise<void> {
	await visit(page, fixtures, place);
	await page.screenshot({ path: file, fullPage: true });
}

async function takeAll(folder: string, start: string): Promise<void> {
	const places = [...PAGES, ...TRANSLATED.map((place) => inLanguage(place, 'ar'))].filter(({ name }) =>
		name.startsWith(start)
	);
	mkdirSync(folder, { recursive: true });
	for (const size of SIZES) {
		for (const theme of ['light', 'dark'] as const) {
			const page = await browser.newPage({ viewport: size, colorScheme: theme });
			for (const place of places) {
				const name = place.name.replace(/[^\w]+/g, '-').replace(/-$/, '');
				await takeWhole(page, place, `${folder}/${size.width}-${theme}-${name}.png`);
			}
			await page.close();
		}
	}
}

const { values } = parseArgs({ options: { all: { type: 'string' }, only: { type: 'string', default: '' } } });
try {
	if (values.all !== undefined) await takeAll(values.all, values.only);
	else {
		mkdirSync(FOLDER, { recursive: true });
		for (const [name, shots] of Object.entries(PICTURES)) {
			writeFileSync(`${FOLDER}${name}.png`, await sideBySide(browser, shots));
		}
	}
} finally {
	await browser.close();
	await fixtures.server.stop();
}
