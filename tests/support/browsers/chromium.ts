/** The Chromium that the whole browser suite runs in, through Playwright. */
import { chromium } from '@playwright/test';
import { ensureBrowser } from '../runner/browser.js';
import type { Window, WindowOptions } from './window.ts';

export async function openChromium({ script, width, height }: WindowOptions): Promise<Window> {
	const browser = await chromium.launch({ executablePath: await ensureBrowser() });
	const page = await browser.newPage({ viewport: { width, height }, javaScriptEnabled: script });
	return {
		async open(url) {
			await page.goto(url);
		},
		async reload() {
			await page.reload();
		},
		async back() {
			await page.goBack();
		},
		url: async () => page.url(),
		async type(selector, text) {
			await page.locator(selector).first().pressSequentially(text);
		},
		press: (selector, key) => page.locator(selector).first().press(key),
		read: (expression) => page.evaluate(expression),
		picture: () => page.screenshot(),
		close: () => browser.close()
	};
}
