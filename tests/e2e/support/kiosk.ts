import type { Page } from '@playwright/test';
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

	get title() {
		return this.page.getByRole('heading', { level: 1 });
	}

	get number() {
		return this.page.getByRole('textbox', { name: 'Your mobile-money number' });
	}

	get pay() {
		return this.button('Pay UGX 500');
	}

	button(name: string | RegExp) {
		return this.page.getByRole('button', { name, exact: true });
	}

	async open(path = `/kiosk/${ROUTER}`): Promise<void> {
		await this.page.goto(this.portal.url + path);
		await expect(this.number).toBeVisible();
	}

	/** The start screen, on which nothing is left of a buyer. */
	async expectStart(): Promise<void> {
		await expect(this.number).toHaveValue('');
		await expect(this.button('Start over')).toBeHidden();
	}

	async type(phone: string): Promise<void> {
		for (const digit of phone) await this.button(digit).tap();
	}

	/** Buys the hour that is chosen at the start. */
	async buy(phone: string): Promise<void> {
		await this.type(phone);
		await this.pay.tap();
	}

	async asked(): Promise<void> {
		await expect(this.title).toHaveText('Check your phone.');
	}

	async paid(): Promise<void> {
		await expect(this.title).toHaveText(/^Your Wi‑Fi is paid until/);
	}

	/** The screen needs no scrolling, and every target is large. */
	async expectToFit(step = ''): Promise<void> {
		const found = await this.page.evaluate(() => ({
			wide: document.documentElement.scrollWidth - innerWidth,
			high: document.documentElement.scrollHeight - innerHeight,
			small: [...document.querySelectorAll('a, button, summary, label, #phone')].flatMap((element) => {
				const { width, height } = element.getBoundingClientRect();
				const isShown = width > 0 && !element.matches('label[for]');
				return isShown && (width < 48 || height < 48) ? [`${element.textContent} ${width} x ${height}`] : [];
			})
		}));
		expect(found, step).toEqual({ wide: 0, high: 0, small: [] });
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
		const session = await this.page.context().newCDPSession(this.page);
		const { entries } = await session.send('Page.getNavigationHistory');
		await session.detach();
		return JSON.stringify([inBrowser, entries, await this.page.context().storageState()]);
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
