/** By keyboard alone, and by ear: what has the focus is seen, and what changes is said. */
import type { Page } from '@playwright/test';
import { buyAt, numberEnding, untilTitled } from '../../support/pages/purchase.ts';
import { expect, freshNumber, ROUTER, test } from '../support/test.ts';

const RING_PX = 3;
const MAX_STOPS = 60;

interface Stop {
	/** The focused element, as HTML. */
	what: string;
	/** Width of the ring around it, or around the tile that it belongs to, in pixels. */
	ring: number;
	/** Whether it is on the screen. */
	seen: boolean;
}

const stop = (page: Page): Promise<Stop> =>
	page.evaluate(() => {
		const element = document.activeElement ?? document.body;
		const widthOf = (one: Element | null) => {
			if (!one) return 0;
			const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(one);
			const drawn = outlineStyle !== 'none' && !/, 0\)$|^transparent$/.test(outlineColor);
			return drawn ? parseFloat(outlineWidth) : 0;
		};
		const { top, bottom, width } = element.getBoundingClientRect();
		return {
			what: element.outerHTML.slice(0, 120),
			ring: Math.max(...[element, element.nextElementSibling, element.closest('.dial')].map(widthOf)),
			seen: width > 0 && bottom > 0 && top < innerHeight
		};
	});

/** Presses Tab until an element has the focus; every stop on the way is seen and has its ring. */
async function tabTo(page: Page, selector: string): Promise<void> {
	for (let count = 0; count < MAX_STOPS; count += 1) {
		await page.keyboard.press('Tab');
		const { what, ring, seen } = await stop(page);
		expect.soft(ring, `ring around ${what}`).toBeGreaterThanOrEqual(RING_PX);
		expect.soft(seen, `on the screen: ${what}`).toBe(true);
		if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return;
	}
	throw new Error(`${selector} was not reached by ${MAX_STOPS} presses of Tab`);
}

test('a purchase from the list to the copied password needs no pointer, and the focus is always seen', async ({
	page,
	portal
}) => {
	await page.setViewportSize({ width: 360, height: 640 });
	await page.goto(portal.url);
	await tabTo(page, '.skip');
	await page.keyboard.press('Enter');
	await tabTo(page, `a[href$="/r/${ROUTER}"]`);
	await page.keyboard.press('Enter');
	await page.waitForURL(`${portal.url}/r/${ROUTER}`);

	await tabTo(page, '[name=time]');
	await page.keyboard.press('ArrowRight');
	const chosen = page.locator('[name=time]:checked');
	await expect(chosen).toBeFocused();
	expect((await stop(page)).ring, 'ring around the chosen tile').toBeGreaterThanOrEqual(RING_PX);
	await tabTo(page, '#phone');
	await page.keyboard.type(freshNumber());
	await tabTo(page, 'form[method=post] button.button');
	await expect(page.locator(':focus')).toHaveText(/^Pay UGX/);
	await page.keyboard.press('Enter');
	await page.waitForURL(/\/s\/[\w-]{24}$/);
	await expect(page.getByRole('heading', { level: 1 })).toHaveText(/^Your Wi‑Fi is paid until/);

	const copy = page.getByRole('button', { name: 'Copy password' });
	await expect(copy).toBeVisible();
	await tabTo(page, '.pass button');
	await page.keyboard.press('Enter');
	await expect(page.getByRole('status').filter({ hasText: 'Copied' })).toBeAttached();
	await tabTo(page, '.folds > :last-child summary');
	await page.keyboard.press('Enter');
	await tabTo(page, '.folds > :last-child button');
	await page.keyboard.press('Enter');
	await expect(page.getByRole('heading', { level: 1 })).toHaveText('You ended your time.');
});

test('a form that comes back is said, and the focus is where it can be mended', async ({ page, portal }) => {
	await page.goto(`${portal.url}/r/${ROUTER}`);
	await page.locator('#phone').focus();
	await page.keyboard.type('0414 123 456');
	await page.keyboard.press('Enter');
	await expect(page.getByRole('alert')).toContainText('You have not been charged.');
	expect(await page.title()).toMatch(/^Please check/);
	const phone = page.locator('#phone');
	await expect(phone).toBeFocused();
	await expect(phone).toHaveValue('0414 123456');
	await expect(phone).toHaveAttribute('aria-invalid', 'true');
	await expect(phone).toHaveAccessibleDescription(/not a mobile number/);
	expect((await stop(page)).ring).toBeGreaterThanOrEqual(RING_PX);
});

test('what changes while a buyer waits is said: the hint, a broken connection, and the page that follows', async ({
	page,
	context,
	portal: { url }
}) => {
	const [waiting, declined] = [
		await buyAt(url, `/r/${ROUTER}`, numberEnding('003')),
		await buyAt(url, `/r/${ROUTER}`, numberEnding('001'))
	];
	await untilTitled(url, declined, /^Payment declined/);
	await page.clock.install();
	await page.goto(url + waiting);
	const said = page.locator('.status').getByRole('status');
	// It is there before anything is said in it: otherwise some screen readers say nothing.
	await expect(said).toBeAttached();
	await expect
		.poll(() => page.evaluate(() => document.documentElement.classList.contains('enhanced')))
		.toBe(true);
	const clock = page.locator('[data-wait]');
	const shown = (await clock.textContent()) ?? '';
	await page.clock.fastForward(31_000);
	await expect(said).toContainText('No prompt?');
	await expect(clock).not.toHaveText(shown);
	await expect(clock).toHaveText(/^\s*Waiting \d:\d\d of 10:00$/);
	await context.setOffline(true);
	await expect(async () => {
		await page.clock.fastForward(5_000);
		await expect(said).toContainText('No connection.', { timeout: 500 });
	}).toPass({ timeout: 60_000 });
	// News come as a page of their own, whose title is what a screen reader says first.
	await context.setOffline(false);
	await page.goto(url + declined);
	expect(await page.title()).toMatch(/^Payment declined, or the PIN was wrong\./);
});
