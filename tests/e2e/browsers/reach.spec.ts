import type { Page } from '@playwright/test';
import type { RunOptions } from 'axe-core';
import { findings } from '../../support/browsers/axe.ts';
import {
	ADMINISTERING,
	BUYING,
	IN_DARK,
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
import { expect, test } from '../support/reach.ts';

const LEVELS: RunOptions = {
	runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa', 'best-practice']
};
/** There are many pages, and the machine may be slow. */
const LIMIT_MS = 480_000;
/** All that the theme can change. */
const COLOURS = ['color-contrast', 'link-in-text-block'];
const WITHOUT_COLOURS = Object.fromEntries(COLOURS.map((rule) => [rule, { enabled: false }]));

/** Everything in light, at the size of a phone; then the colours of some pages once more in dark. */
async function look(page: Page, fixtures: PurchaseFixtures, place: Place): Promise<void> {
	await page.emulateMedia({ colorScheme: 'light' });
	await visit(page, fixtures, place);
	expect.soft(await findings(page, LEVELS), place.name).toEqual([]);
	if (!IN_DARK.includes(place)) return;
	await page.emulateMedia({ colorScheme: 'dark' });
	expect
		.soft(await findings(page, { runOnly: { type: 'rule', values: COLOURS } }), `${place.name}, dark`)
		.toEqual([]);
}

for (const [name, places] of [
	['buyer', BUYING],
	['buyer at a kiosk', KIOSK],
	['owner', OWNING],
	['reader of the API reference', REFERENCE],
	['developer', SIGNED_IN],
	['administrator', ADMINISTERING]
] as const) {
	test(`axe finds nothing on any page of a ${name}, light and dark`, async ({ page, fixtures }) => {
		test.setTimeout(LIMIT_MS);
		await page.setViewportSize({ width: 360, height: 640 });
		for (const place of places) await look(page, fixtures, place);
	});
}

test('axe finds nothing on the main pages of a buyer in other languages', async ({ page, fixtures }) => {
	test.setTimeout(LIMIT_MS);
	await page.setViewportSize({ width: 360, height: 640 });
	for (const locale of OTHER_LANGUAGES) {
		for (const place of MAIN.map((one) => inLanguage(one, locale))) {
			await visit(page, fixtures, place);
			await expect(page.locator('html')).toHaveAttribute('lang', locale);
			// The colours are those of the English page.
			const found = await findings(page, { ...LEVELS, rules: WITHOUT_COLOURS });
			expect.soft(found, place.name).toEqual([]);
		}
	}
});
