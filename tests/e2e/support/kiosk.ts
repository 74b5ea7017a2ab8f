import type { BrowserContext, Page } from '@playwright/test';
import jsQR from 'jsqr';
import { readPixels } from '../../support/browsers/pixels.ts';
import { openSql } from '../../support/database/sql.ts';
import type { Portal } from './portal.ts';
import { expect, ROUTER, test as base } from './test.ts';

/** Tablets of 10 inches, lying and standing. */
export const TABLETS = [
	{ width: 1280, height: 800 },
	{ width: 800, height: 1280 },
	{ width: 1024, height: 768 },
	{ width: 768, height: 1024 }
];

/** Millimetres of one CSS pixel on a tablet of 10 inches. */
export const mmPerPixel = ({ width, height }: { width: number; height: number }) =>
	(10 * 25.4) / Math.hypot(width, height);

/** A buyer who touches a kiosk. */
export class Kiosk {
	readonly page: Page;
	readonly portal: Portal;

	constructor(page: Page, portal: Portal) {
		this.page = page;
		this.portal = portal;
	}

	get context(): BrowserContext {
		return this.page.context();
	}

	get title() {
		return this.page.getByRole('heading', { level: 1 });
	}

	get begin() {
		return this.page.getByRole('button', { name: 'Touch to start' });
	}

	button(name: string | RegExp) {
		return this.page.getByRole('button', { name, exact: true });
	}

	async open(path = `/kiosk/${ROUTER}`): Promise<void> {
		await this.page.goto(this.portal.url + path);
		await expect(this.begin).toBeEnabled();
	}

	/** Touches the way to the question whether all is right: one hour, MTN MoMo, the number. */
	async choose(phone: string): Promise<void> {
		await this.begin.tap();
		await this.button(/^1 hour/).tap();
		await this.button('MTN MoMo').tap();
		await this.type(phone);
		await this.button('Next').tap();
		await expect(this.title).toHaveText('Is this correct?');
	}

	/** Opens the list of languages, which is folded after the first screen, and touches one. */
	async chooseLanguage(name: string): Promise<void> {
		await this.page.locator('.kiosk-top summary').tap();
		await this.button(name).tap();
	}

	async type(phone: string): Promise<void> {
		await expect(this.title).toHaveText('Your mobile-money number');
		for (const digit of phone) await this.button(digit).tap();
	}

	/** @returns when the code to the phone is there, so that the purchase has begun */
	async buy(phone: string): Promise<void> {
		await this.choose(phone);
		await this.button('Pay UGX 500').tap();
		await expect(this.title).not.toHaveText('Is this correct?');
	}

	async paid(): Promise<void> {
		await expect(this.title).toHaveText(/^Your Wi‑Fi is paid until/, { timeout: 20_000 });
	}

	/** The screen needs no scrolling, leads nowhere else, and every target is large. */
	async expectToFit(step = ''): Promise<void> {
		const found = await this.page.evaluate(() => ({
			wide: document.documentElement.scrollWidth - innerWidth,
			high: document.documentElement.scrollHeight - innerHeight,
			links: document.querySelectorAll('a, iframe, form[action]').length,
			small: [...document.querySelectorAll('button, input')].flatMap((element) => {
				const { width, height } = element.getBoundingClientRect();
				return width < 48 || height < 48 ? [`${element.textContent} ${width} x ${height}`] : [];
			})
		}));
		expect(found, step).toEqual({ wide: 0, high: 0, links: 0, small: [] });
	}

	/** Reads the screen as a camera would, with the size of one module in CSS pixels. */
	async scan(name: string | RegExp, shrink = 1): Promise<{ text: string | undefined; modulePixels: number }> {
		const code = this.page.getByRole('img', { name });
		await expect(code).toBeInViewport({ ratio: 1 });
		const modules = await code.locator('svg').evaluate((svg) => (svg as SVGSVGElement).viewBox.baseVal.width);
		const box = await code.boundingBox();
		const picture = await readPixels(await code.screenshot(), { shrink });
		const read = jsQR(picture.data, picture.width, picture.height);
		return { text: read?.data, modulePixels: (box?.width ?? 0) / modules };
	}

	/** Counts the prompts of a number. */
	async askedTimes(phone: string): Promise<number> {
		const sql = await openSql(this.portal.service.databaseUrl);
		try {
			return await sql.count('select count(*) from payments where phone = ?', `+256${phone.slice(1)}`);
		} finally {
			await sql.close();
		}
	}

	/** Everything that the next person could reach: the page, its addresses, its storage, its name. */
	async remains(): Promise<string> {
		const inBrowser = await this.page.evaluate(() => [
			document.documentElement.outerHTML,
			...[...document.querySelectorAll('input')].map((field) => field.value),
			location.href,
			JSON.stringify(history.state),
			window.name,
			document.cookie,
			JSON.stringify(localStorage),
			JSON.stringify(sessionStorage),
			JSON.stringify(performance.getEntries())
		]);
		const session = await this.context.newCDPSession(this.page);
		const { entries } = await session.send('Page.getNavigationHistory');
		await session.detach();
		return JSON.stringify([inBrowser, entries, await this.context.storageState()]);
	}
}

/** On the smallest of the tablets. */
export const test = base.extend<{ kiosk: Kiosk }>({
	hasTouch: true,
	viewport: TABLETS.at(-1) ?? null,
	kiosk: async ({ page, portal }, use) => {
		await use(new Kiosk(page, portal));
	}
});
