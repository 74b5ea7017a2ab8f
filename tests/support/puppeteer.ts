/** Firefox through WebDriver BiDi, and Chromium beside it: the same puppeteer drives both. */
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import puppeteer, { type LaunchOptions } from 'puppeteer-core';
import { ensureBrowser } from './browser.js';
import { findFirefox, MISSING } from './engines.js';
import type { Window, WindowOptions } from './window.ts';

const limitMs = 60_000;
const lookAgainMs = 10;

const LOADED = "performance.getEntriesByType('navigation')[0]?.loadEventEnd > 0";

/** Opens a window of Firefox, in a profile of its own. */
export async function openFirefox(options: WindowOptions): Promise<Window> {
	const executablePath = findFirefox();
	if (!executablePath) throw new Error(`This ${MISSING.firefox}`);
	return launch(options, {
		browser: 'firefox',
		executablePath,
		extraPrefsFirefox: { 'javascript.enabled': options.script }
	});
}

/** Opens a window of the Chromium that the whole browser suite runs in. */
export async function openChromium(options: WindowOptions): Promise<Window> {
	return launch(options, {
		browser: 'chrome',
		executablePath: await ensureBrowser(),
		args: process.getuid?.() === 0 ? ['--no-sandbox'] : []
	});
}

async function launch({ script, width, height }: WindowOptions, options: LaunchOptions): Promise<Window> {
	const browser = await puppeteer.launch({
		...options,
		headless: true,
		timeout: limitMs,
		protocolTimeout: limitMs
	});
	const page = await browser.newPage();
	page.setDefaultTimeout(limitMs);
	await page.setViewport({ width, height });
	// Firefox has no such command: there it is a setting of the profile.
	if (options.browser === 'chrome') await page.setJavaScriptEnabled(script);
	return {
		async open(url) {
			await page.goto(url);
			// Firefox says that a page is there before its load event has ended, and an address that is opened until
			// then takes its place in the history: going back would pass it over.
			while (!(await page.evaluate(LOADED))) await sleep(lookAgainMs);
		},
		async reload() {
			await page.reload();
		},
		async back() {
			await page.goBack();
		},
		url: async () => page.url(),
		async type(selector, text) {
			await page.focus(selector);
			await page.keyboard.type(text);
		},
		async press(selector, key) {
			await page.focus(selector);
			await page.keyboard.press(key === 'Space' ? ' ' : key);
		},
		read: (expression) => page.evaluate(expression),
		picture: async () => Buffer.from(await page.screenshot({ encoding: 'binary' })),
		close: () => browser.close()
	};
}
