/** A purchase in the buyer's language, from the list to the password. */
import type { Page } from '@playwright/test';
import { directionOf, type Locale } from '../../../src/lib/i18n/locales.ts';
import { isAll } from '../../support/all.ts';
import { leftInEnglish } from '../support/left-in-english.ts';
import { expect, freshNumber, ROUTER, test, unfold } from '../support/test.ts';

const CASES: { locale: Locale; by: 'address' | 'browser'; script: boolean }[] = [
	{ locale: 'sw', by: 'address', script: true },
	{ locale: 'ar', by: 'browser', script: false }
];

async function expectLanguage(page: Page, locale: Locale): Promise<void> {
	const html = page.locator('html');
	await expect(html).toHaveAttribute('lang', locale);
	await expect(html).toHaveAttribute('dir', directionOf(locale));
	// Without script a waiting page reloads while it is read.
	await expect(async () => expect(await leftInEnglish(page, locale)).toEqual([])).toPass({ timeout: 5_000 });
}

for (const { locale, by, script: usual } of CASES) {
	for (const script of isAll ? [true, false] : [usual]) {
		test.describe(`in ${locale}, chosen by the ${by}, ${script ? 'with' : 'without'} script`, () => {
			test.use({ javaScriptEnabled: script, locale: by === 'browser' ? locale : 'en' });

			test('every step of a purchase stays in the language', async ({ page, portal }) => {
				const prefix = by === 'address' ? `/${locale}` : '';
				const address = (path: RegExp) => new RegExp(`^${portal.url}${prefix}${path.source}`);

				await page.goto(portal.url + (prefix || '/'));
				await expectLanguage(page, locale);
				await page.getByRole('link', { name: 'Kisementi Corner' }).click();
				await expect(page).toHaveURL(address(/\/r\/\d+$/));
				await expectLanguage(page, locale);

				// A refused form.
				const form = page.locator('form.parts');
				await unfold(page);
				await form.locator('input[name=time][value=own]').check();
				await form.locator('input[name=count]').fill('1');
				await form.locator('select[name=unit]').selectOption('m');
				await form.locator('input[name=phone]').fill(freshNumber());
				await form.locator('button.button').click();
				await expect(form.getByRole('alert').first()).toBeVisible();
				await expectLanguage(page, locale);

				await form.locator('input[name=count]').fill('');
				await form.locator('input[name=time]').first().check();
				await form.locator('button.button').click();
				await expect(page).toHaveURL(address(/\/s\/[\w-]{24}$/));
				await expectLanguage(page, locale);
				await expect(page.locator('.password')).toBeVisible({ timeout: 20_000 });
				await expect(page).toHaveURL(address(/\/s\/[\w-]{24}(\?held)?$/));
				await expectLanguage(page, locale);
			});

			test('an unknown address is explained in the language', async ({ page, portal }) => {
				for (const path of ['/r/999999', '/nothing-here', '/s/abcdefghijklmnopqrstuvwx']) {
					await page.goto(portal.url + (by === 'address' ? `/${locale}` : '') + path);
					await expectLanguage(page, locale);
				}
			});
		});
	}
}

test.describe('the switch', () => {
	test.use({ javaScriptEnabled: false, viewport: { width: 360, height: 640 } });

	test('is visible on a phone without scrolling and opens the same page in two touches', async ({
		page,
		portal
	}) => {
		await page.goto(`${portal.url}/r/${ROUTER}`);
		const names = page.locator('details.languages');
		await names.locator('summary').click();
		const links = names.getByRole('link');
		await expect(links).toHaveCount(8);
		for (const link of await links.all()) {
			const box = await link.boundingBox();
			expect(box?.height).toBeGreaterThanOrEqual(44);
			expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(640);
		}
		await names.getByRole('link', { name: 'العربية' }).click();
		await expect(page).toHaveURL(`${portal.url}/ar/r/${ROUTER}`);
		await expectLanguage(page, 'ar');
		expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);

		// Also after a refused form.
		await unfold(page);
		await page.locator('input[name=time][value=own]').check();
		await page.locator('input[name=phone]').fill(freshNumber());
		await page.locator('form.parts button.button').click();
		await expect(page.getByRole('alert').first()).toBeVisible();
		await page.locator('details.languages summary').click();
		await page.getByRole('link', { name: 'አማርኛ' }).click();
		await expect(page).toHaveURL(`${portal.url}/am/r/${ROUTER}?order`);
		await expectLanguage(page, 'am');
	});
});

test('a form that is half filled in goes on in another language', async ({ page, portal }) => {
	await page.goto(`${portal.url}/r/${ROUTER}`);
	const phone = freshNumber();
	await page.getByRole('radio', { name: /^30 minutes/ }).check();
	await page.locator('input[name=phone]').fill(phone);
	const order = await page.locator('input[name=purchase]').inputValue();
	await page.locator('details.languages summary').click();
	await page.getByRole('link', { name: 'Français' }).click();
	await expectLanguage(page, 'fr');
	await expect(page.locator('input[name=phone]')).toHaveValue(`${phone.slice(0, 4)} ${phone.slice(4)}`);
	await expect(page.getByRole('radio', { name: /^30 minutes/ })).toBeChecked();
	await expect(page.getByRole('button', { name: /^Payer/ })).toContainText('250');
	// Sent in both languages, it is one order.
	expect(await page.locator('input[name=purchase]').inputValue()).toBe(order);
	await page.reload();
	await expect(page.locator('input[name=phone]')).toHaveValue('');
});
