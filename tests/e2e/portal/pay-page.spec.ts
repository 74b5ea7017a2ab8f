/** The page where one buys, on a phone: what is seen without scrolling, and the number with its operator. */
import type { Page } from '@playwright/test';
import { LOCALES } from '#lib/i18n/locales.ts';
import { openSql } from '../../support/database/sql.ts';
import { HAND_OVER_ROUTER, handOver } from '../../support/gateways/hand-over.ts';
import { cutOff } from '../support/layout.ts';
import { ownerSets } from '../support/offers.ts';
import { expect, freshNumber, ROUTER, test } from '../support/test.ts';

const PHONE = { width: 360, height: 640 };
/** A browser's bars leave so much of the screen. */
const SEEN_PX = 560;
const SIX_OFFERS_ROUTER = 9;
const SIX_OFFERS = [
	{ name: '30 minutes', duration: '30m', price: 250 },
	{ name: '1 hour', duration: '1h', price: 500 },
	{ name: '3 hours', duration: '3h', price: 1500 },
	{ name: 'Day', duration: '1d', price: 2000, max_devices: 3 },
	{ name: 'Week', duration: '1w', price: 10_000, max_devices: 3 },
	{ name: 'Month', duration: '30d', price: 35_000, max_devices: 5 }
];
const LONG_NAMED_ROUTER = 12;

const number = (page: Page) => page.locator('#phone');
const operator = (page: Page, name: string) => page.getByRole('radio', { name, exact: true });

test('six offers, the number and Pay are on the first screen of a phone, in every language, with a long name of the owner', async ({
	browser,
	fixtures
}) => {
	for (const router of [SIX_OFFERS_ROUTER, HAND_OVER_ROUTER])
		await ownerSets({ service: fixtures.server }, router, SIX_OFFERS);
	const sql = await openSql(fixtures.server.databaseUrl);
	await sql.run(
		`insert into brands (account_id, name, updated_at, updated_by)
			select owner_account_id, ?, 0, owner_account_id from routers where id = ?
			on conflict (account_id) do update set name = excluded.name`,
		'Kisementi Corner Restaurant and Guesthou',
		ROUTER
	);
	await sql.close();
	const splash = await handOver(fixtures.server);
	for (const javaScriptEnabled of [true, false]) {
		const context = await browser.newContext({ viewport: PHONE, javaScriptEnabled });
		const page = await context.newPage();
		for (const locale of LOCALES) {
			for (const path of [`/r/${ROUTER}`, `/r/${SIX_OFFERS_ROUTER}`, splash]) {
				await page.goto(`${fixtures.url}/${locale}${path}`);
				await expect(page.locator('.tiles input[name=time]:not(.to)')).toHaveCount(6);
				const { y, height } = (await page.locator('.pay .button').boundingBox()) ?? { y: 999, height: 0 };
				expect.soft(y + height, `${locale}${path}`).toBeLessThanOrEqual(SEEN_PX);
				expect.soft(await cutOff(page), `${locale}${path}`).toEqual([]);
			}
		}
		await context.close();
	}
});

test('a long word in the name of an offer stays in its tile, also at the kiosk', async ({ page, portal }) => {
	const name = 'Supercalifragilisticexpialidocious-2026';
	await ownerSets(portal, LONG_NAMED_ROUTER, [
		{ name: 'Day', duration: '1d', price: 990_000, max_devices: 10 },
		{ name, duration: '2d', price: 1_000_000, max_devices: 10 }
	]);
	await page.setViewportSize({ width: 360, height: 740 });
	await page.goto(`${portal.url}/r/${LONG_NAMED_ROUTER}`);
	await expect(page.getByText(name)).toBeVisible();
	expect(await cutOff(page)).toEqual([]);
	await page.setViewportSize({ width: 1024, height: 768 });
	await page.goto(`${portal.url}/kiosk/${LONG_NAMED_ROUTER}`);
	await expect(page.getByText(name)).toBeVisible();
	expect(await cutOff(page)).toEqual([]);
});

test('eleven touches buy: without the zero, as the country code stands before it', async ({
	page,
	portal,
	buyer
}) => {
	await page.setViewportSize(PHONE);
	await page.goto(`${portal.url}/r/${ROUTER}`);
	await expect(page.getByText('+256', { exact: true })).toBeVisible();
	const digits = freshNumber().slice(1);
	await number(page).click();
	await page.keyboard.type(digits);
	await page.getByRole('button', { name: 'Pay UGX 500' }).click();
	expect(1 + digits.length + 1).toBe(11);
	await expect(buyer.title).toHaveText(/^Your Wi‑Fi is paid until/);
});

test('the operator lights up while the number is typed, and the buyer can choose another one', async ({
	page,
	portal
}) => {
	await page.goto(`${portal.url}/r/${ROUTER}`);
	const pin = (name: string) => page.getByText(`Approve with your ${name}PIN on your phone.`);
	await expect(operator(page, 'Detect from my number')).toBeChecked();
	await expect(pin('')).toBeVisible();
	await number(page).pressSequentially('0772');
	await expect(operator(page, 'MTN MoMo')).toBeChecked();
	await expect(pin('MTN MoMo ')).toBeVisible();
	await number(page).fill('0702');
	await expect(operator(page, 'Airtel Money')).toBeChecked();
	await number(page).fill('+254 700');
	await expect(operator(page, 'Detect from my number')).toBeChecked();
	await operator(page, 'Airtel Money').check();
	await expect(pin('Airtel Money ')).toBeVisible();
	await number(page).fill('0772 123456');
	await expect(operator(page, 'Airtel Money')).toBeChecked();
});

test('the operator follows another number after a refusal, unless the buyer has touched one', async ({
	page,
	portal
}) => {
	await page.goto(`${portal.url}/r/${ROUTER}`);
	await number(page).fill(freshNumber('002'));
	await page.getByRole('button', { name: /^Pay/ }).click();
	await expect(page.getByRole('heading', { level: 1 })).toContainText('Not enough money');
	const checked = page.getByRole('radio', { checked: true });
	await number(page).fill('0702');
	await expect(operator(page, 'Airtel Money')).toBeChecked();
	await number(page).fill('0772');
	await expect(operator(page, 'MTN MoMo')).toBeChecked();
	await operator(page, 'MTN MoMo').click();
	await number(page).fill('0702');
	await expect(checked.last()).toHaveAccessibleName('MTN MoMo');
});

test.describe('without script', () => {
	test.use({ javaScriptEnabled: false });

	test('the form that pays again lights the operator of its number, and asks that of another number', async ({
		page,
		portal,
		buyer
	}) => {
		await page.goto(`${portal.url}/r/${ROUTER}`);
		await number(page).fill(freshNumber('002'));
		await page.getByRole('button', { name: /^Pay/ }).click();
		await expect(buyer.title).toContainText('Not enough money');
		const chip = (name: string) => page.locator('.chips span', { hasText: name });
		await expect(chip('MTN MoMo')).not.toHaveCSS('box-shadow', 'none');
		await expect(chip('Airtel Money')).toHaveCSS('box-shadow', 'none');
		await expect(operator(page, 'Detect from my number')).toBeChecked();
	});
});

test('a number is grouped while it is typed, pasted and corrected, and the cursor stays', async ({
	page,
	portal
}) => {
	await page.goto(`${portal.url}/r/${ROUTER}`);
	await number(page).pressSequentially('0772123456');
	await expect(number(page)).toHaveValue('0772 123456');
	// Two digits in the middle are replaced: 0772 1|23|456.
	for (let step = 0; step < 3; step += 1) await page.keyboard.press('ArrowLeft');
	await page.keyboard.press('Backspace');
	await page.keyboard.press('Backspace');
	await page.keyboard.type('98');
	await expect(number(page)).toHaveValue('0772 198456');
	await page.keyboard.type('7');
	await expect(number(page)).toHaveValue('0772 1987456');
	await number(page).fill('');
	await page.keyboard.insertText('tel:+256-(0)772-123-456');
	await expect(number(page)).toHaveValue('+256 772 123 456');
	await expect(page.getByText('+256', { exact: true })).toBeHidden();
});

test('a touched Pay says whom it asks, in the same place; another touch sends nothing, and Back restores it', async ({
	page,
	portal
}) => {
	await page.setViewportSize(PHONE);
	await page.goto(`${portal.url}/r/${ROUTER}`);
	await page.waitForFunction(() => document.documentElement.classList.contains('enhanced'));
	await number(page).fill(freshNumber());
	// The form stays where it is, to be looked at: its first sending is stopped here, later ones by the page itself.
	await page.evaluate(() => {
		document.body.dataset['sent'] = '0';
		document.addEventListener('submit', (event) => {
			if (!event.defaultPrevented) document.body.dataset['sent'] += '1';
			event.preventDefault();
		});
	});
	const pay = page.locator('.pay .button');
	const place = await pay.boundingBox();
	await pay.click();
	await expect(pay).toHaveText('Asking MTN MoMo…');
	await expect(pay).toHaveAttribute('aria-disabled', 'true');
	expect(await pay.boundingBox()).toEqual(place);
	await pay.click({ force: true });
	await number(page).press('Enter');
	await expect(page.locator('body')).toHaveAttribute('data-sent', '01');
	await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
	await expect(pay).toHaveText('Pay UGX 500');
	await expect(pay).not.toHaveAttribute('aria-disabled');
	await pay.click();
	await expect(page.locator('body')).toHaveAttribute('data-sent', '011');
});
