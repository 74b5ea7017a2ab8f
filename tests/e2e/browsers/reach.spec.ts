import type { Page } from '@playwright/test';
import type { RunOptions } from 'axe-core';
import { findings } from '../../support/browsers/axe.ts';
import {
	ADMINISTERING,
	BUYING,
	COLOURED,
	inLanguage,
	KIOSK,
	MAIN,
	OTHER_LANGUAGES,
	OWNING,
	REFERENCE,
	SIGNED_IN,
	visit,
	type Place
} from '../support/pages.ts';
import type { PurchaseFixtures } from '../support/purchase-fixtures.ts';
import { cutOff, edgeless, lowTargets, moving } from '../support/layout.ts';
import { expect, test, withoutFullScreen } from '../support/test.ts';

const LEVELS: RunOptions = {
	runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa', 'best-practice']
};
/** There are many pages, and the machine may be slow. */
const LIMIT_MS = 480_000;
/** All that the theme can change. They take two thirds of axe's time. */
const COLOURS = ['color-contrast', 'link-in-text-block'];
const WITHOUT_COLOURS = Object.fromEntries(COLOURS.map((rule) => [rule, { enabled: false }]));

const PHONE = { width: 360, height: 640 };
const NARROW = { width: 240, height: 400 };

/** Axe at the size of a phone, with the colours of some pages in light and in dark; then the layout. */
async function look(page: Page, fixtures: PurchaseFixtures, place: Place) {
	const isColoured = COLOURED.includes(place);
	await page.setViewportSize(PHONE);
	await visit(page, fixtures, place);
	const levels = isColoured ? LEVELS : { ...LEVELS, rules: WITHOUT_COLOURS };
	expect.soft(await findings(page, levels), place.name).toEqual([]);
	if (isColoured) {
		await page.emulateMedia({ colorScheme: 'dark' });
		expect
			.soft(await findings(page, { runOnly: { type: 'rule', values: COLOURS } }), `${place.name}, dark`)
			.toEqual([]);
	}
	await page.setViewportSize(NARROW);
	expect.soft(await cutOff(page), `${place.name}, narrow`).toEqual([]);
	expect.soft(await lowTargets(page), place.name).toEqual([]);
	expect.soft(await moving(page), `${place.name}, less motion`).toBe(0);
	await page.emulateMedia({ colorScheme: 'light', forcedColors: 'active' });
	expect.soft(await edgeless(page), `${place.name}, chosen colours`).toEqual([]);
	await page.emulateMedia({ forcedColors: 'none' });
	await page.setViewportSize(PHONE);
	await page.evaluate(() => (document.documentElement.style.fontSize = '200%'));
	expect.soft(await cutOff(page), `${place.name}, large`).toEqual([]);
}

test.describe('with less motion', () => {
	test.describe.configure({ timeout: LIMIT_MS });
	test.beforeEach(async ({ page }) => {
		await withoutFullScreen(page);
		await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
	});

	for (const [name, places] of [
		['buyer', BUYING],
		['buyer at a kiosk', KIOSK],
		['owner', OWNING],
		['reader of the API reference', REFERENCE],
		['developer', SIGNED_IN],
		['administrator', ADMINISTERING]
	] as const) {
		test(`every page of a ${name} is without findings of axe, light and dark, fits a narrow screen and letters of twice the size, has targets for a finger, keeps its edges in chosen colours, and stands still`, async ({
			page,
			fixtures
		}) => {
			for (const place of places) await look(page, fixtures, place);
		});
	}

	test('so are the main pages of a buyer in other languages', async ({ page, fixtures }) => {
		for (const locale of OTHER_LANGUAGES) {
			for (const place of MAIN.map((one) => inLanguage(one, locale))) {
				await look(page, fixtures, place);
				await expect(page.locator('html')).toHaveAttribute('lang', locale);
			}
		}
	});
});
