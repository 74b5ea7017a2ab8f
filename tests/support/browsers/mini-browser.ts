/**
 * A captive portal's mini-browser, as far as Chromium can play one (reference A5): storage throws, no window opens,
 * dialogs are dead, nothing is downloaded, and every opening begins without cookies. Attempts of a page are recorded.
 */
import type { Browser, BrowserContext, Page } from '@playwright/test';

export interface MiniBrowser {
	/** The window; another one after each `reopen`. */
	readonly page: Page;
	/** Attempts at features that a mini-browser lacks: downloads, new windows, cookies. */
	readonly faults: readonly string[];
	/** The window closes, as when the buyer goes to the prompt on the phone; a new one opens at the address. */
	reopen(address: string): Promise<void>;
	close(): Promise<void>;
}

interface MiniBrowserOptions {
	javaScript?: boolean;
	/** Of the device, e.g. `fr-RW`. */
	locale?: string;
}

/** A phone held upright. */
const VIEWPORT = { width: 360, height: 640 };

export async function openMiniBrowser(
	browser: Browser,
	{ javaScript = true, locale = 'en-US' }: MiniBrowserOptions = {}
): Promise<MiniBrowser> {
	const faults: string[] = [];
	let context: BrowserContext;
	let page: Page;

	async function open(): Promise<void> {
		context = await browser.newContext({
			javaScriptEnabled: javaScript,
			viewport: VIEWPORT,
			locale,
			acceptDownloads: false,
			serviceWorkers: 'block'
		});
		if (javaScript) await context.addInitScript(limit);
		page = await context.newPage();
		context.on('page', () => faults.push('a new window was opened'));
		page.on('download', (download) => faults.push(`a download: ${download.url()}`));
		page.on('dialog', (dialog) => {
			faults.push(`a dialog: ${dialog.message()}`);
			void dialog.dismiss();
		});
	}

	async function shut(): Promise<void> {
		const kept = await context.cookies();
		for (const { name } of kept) faults.push(`a cookie: ${name}`);
		await context.close();
	}

	await open();
	return {
		get page() {
			return page;
		},
		faults,
		async reopen(address) {
			await shut();
			await open();
			await page.goto(address);
		},
		close: shut
	};
}

/** Runs in the page, before its own scripts. */
function limit(): void {
	const refuse = () => {
		throw new DOMException('The operation is insecure.', 'SecurityError');
	};
	for (const name of ['localStorage', 'sessionStorage', 'indexedDB', 'caches']) {
		Object.defineProperty(window, name, { get: refuse });
	}
	Storage.prototype.setItem = refuse;
	Storage.prototype.getItem = refuse;
	for (const name of ['serviceWorker', 'geolocation', 'clipboard', 'share', 'mediaDevices', 'credentials']) {
		Object.defineProperty(navigator, name, { get: () => undefined });
	}
	Object.defineProperty(window, 'open', { value: () => null });
	for (const name of ['alert', 'print']) Object.defineProperty(window, name, { value: () => undefined });
}
