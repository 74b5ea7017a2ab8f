/** Keys and the request log in the developer area, as a person with a browser uses them. */
import type { Page } from '@playwright/test';
import { isAll } from '../../support/all.ts';
import {
	another,
	makeKey,
	PASSWORD,
	signInAs,
	signUp,
	statusWith,
	test,
	title,
	typeSignIn,
	type Area
} from '../support/developers.ts';
import { expect } from '../support/test.ts';

const KEY = /^atl_test_[0-9A-Za-z]{36}$/;

/** The part of the list that is about one key. */
const entryOf = (page: Page, name: string) =>
	page.getByRole('listitem').filter({ has: page.getByRole('heading', { name, exact: true }) });

/** Loads a page until it shows what is written behind. */
async function reloadUntil(page: Page, shown: () => Promise<void>): Promise<void> {
	await expect(async () => {
		await page.reload();
		await shown();
	}).toPass({ intervals: [50, 100, 250, 500] });
}

for (const javaScriptEnabled of isAll ? [true, false] : [true]) {
	test.describe(javaScriptEnabled ? 'with script' : 'without script', () => {
		test.use({ javaScriptEnabled });

		test('a key is made, shown once, used, looked after and revoked', async ({ page, area }) => {
			const name = `Kiosk ${String(javaScriptEnabled)}`;
			await signInAs(page, area, 'owner');
			await page.getByRole('link', { name: 'Create key' }).click();
			await page.getByLabel('Name').fill(name);
			await page.getByRole('radio', { name: /^app/ }).check();
			await page.getByRole('checkbox', { name: /^routers:read/ }).check();
			await page.getByRole('checkbox', { name: /^payments:read/ }).check();
			await page.getByRole('radio', { name: 'After 30 days' }).check();
			await page.getByRole('button', { name: 'Create key' }).click();

			await expect(title(page)).toHaveText('Your new key');
			const key = await page.locator('.secret').innerText();
			expect(key).toMatch(KEY);
			const copy = page.getByRole('button', { name: 'Copy key' });
			await expect(copy).toHaveCount(javaScriptEnabled ? 1 : 0);
			expect(await statusWith(area, key)).toBe(200);
			expect(await statusWith(area, key, '/v1/sessions/1')).toBe(403);

			await page.getByRole('link', { name: /Back to keys/ }).click();
			const entry = entryOf(page, name);
			await reloadUntil(page, () => expect(entry).toContainText(/Calls, last day\s*2/, { timeout: 100 }));
			await expect(entry).toContainText(`atl_test_…${key.slice(-4)}`);
			await expect(entry).toContainText(/Calls, last minute\s*2 of 100,000/);
			await expect(entry).toContainText(/Last used\s*just now/);
			await expect(entry).toContainText('routers:read, payments:read');
			await expect(entry).not.toContainText(/Expires\s*never/);
			expect(await page.content()).not.toContain(key);

			await entry.getByRole('link', { name: /^Revoke/ }).click();
			await expect(title(page)).toHaveText(`Revoke “${name}”?`);
			expect(await statusWith(area, key)).toBe(200);
			await page.getByRole('button', { name: 'Revoke key' }).click();
			await expect(page.getByRole('status')).toContainText(`${name} is revoked.`);
			await area.server.advance(5_000);
			expect(await statusWith(area, key)).toBe(401);
			await expect(entry).toHaveCount(0);
			await page.getByText(/^Ended keys/).click();
			await expect(page.getByRole('listitem').filter({ hasText: name })).toContainText('revoked');
		});
	});
}

test.describe('without script', () => {
	test.use({ javaScriptEnabled: false });

	test('a form that cannot be used comes back with its entries and the reason', async ({ page, area }) => {
		await signUp(page, area);
		await page.getByRole('link', { name: 'Create key' }).click();
		await page.getByLabel('Name').fill('airtill:mine');
		await page.getByRole('checkbox', { name: /^routers:read/ }).check();
		await page.getByRole('button', { name: 'Create key' }).click();
		await expect(page.getByText(/are reserved/)).toBeVisible();
		await expect(page).toHaveTitle(/^Please check: /);
		await expect(page.getByLabel('Name')).toHaveValue('airtill:mine');
		await expect(page.getByRole('checkbox', { name: /^routers:read/ })).toBeChecked();
		// A day that was typed is never passed over.
		await page.getByLabel('Name').fill('till');
		await page.getByLabel('Last day').fill('2099-12-31');
		await page.getByRole('button', { name: 'Create key' }).click();
		await expect(page.getByText('You entered a date but chose another expiry.')).toBeVisible();
		await page.getByRole('radio', { name: /^On a date/ }).check();
		await page.getByRole('button', { name: 'Create key' }).click();
		await expect(title(page)).toHaveText('Your new key');
	});

	test('requests are listed without keys, and filtered', async ({ page, area }) => {
		await signUp(page, area);
		await page.getByRole('link', { name: 'Requests' }).click();
		await expect(page.getByText('No requests yet.')).toBeVisible();
		const key = await makeKey(page, area, 'till');
		const other = await makeKey(page, area, 'other');
		await statusWith(area, key);
		await statusWith(area, other, '/v1/sessions/77');
		await page.getByRole('link', { name: 'Requests' }).click();
		const rows = page.locator('tbody tr');
		await reloadUntil(page, () => expect(rows).toHaveCount(2, { timeout: 100 }));
		await expect(rows.first()).toContainText(/404.*GET \/v1\/sessions\/77.*req_\w{26}/s);
		await expect(rows.last()).toContainText(`atl_test_…${key.slice(-4)}`);
		expect(await page.content()).not.toContain(key);

		await page.getByLabel('Status').selectOption('4xx refused');
		await page.getByRole('button', { name: 'Show' }).click();
		await expect(rows).toHaveCount(1);
		await page.getByLabel('Key').selectOption({ index: 2 });
		await page.getByRole('button', { name: 'Show' }).click();
		await expect(page.getByText('No matching requests.')).toBeVisible();
		await page.getByRole('link', { name: 'See all' }).click();
		await expect(rows).toHaveCount(2);
	});
});

test('a new key is copied by a button', async ({ page, area }) => {
	await signUp(page, area);
	await makeKey(page, area, 'till');
	await page.getByRole('button', { name: 'Copy key' }).click();
	await expect(page.getByRole('button', { name: 'Copied' })).toBeVisible();
});

test.describe('a form that somebody has changed', () => {
	// Script would put what was changed right again.
	test.use({ javaScriptEnabled: false });

	/** The account's keys, as its page lists them. */
	const keysOn = async (page: Page, area: Area) => {
		await page.goto(`${area.url}/developer/keys`);
		return page.locator('.things').allInnerTexts();
	};

	test('makes no key with a role or scope above one’s own', async ({ page, area }) => {
		await signUp(page, area);
		const before = await keysOn(page, area);
		for (const [name, value, words] of [
			['role', 'admin', 'Choose one of the roles of your account.'],
			['scope', 'owner:write', 'Choose scopes that your account allows.'],
			['lifetime', '100000', 'Choose when the key expires.'],
			['form', 'x', 'This form is damaged.']
		] as const) {
			await page.goto(`${area.url}/developer/keys/new`);
			await page.getByLabel('Name').fill('above');
			const field = page.locator(`input[name=${name}]`).first();
			await field.evaluate((input: HTMLInputElement, to) => {
				input.value = to;
				input.checked = true;
			}, value);
			await page.getByRole('button', { name: 'Create key' }).click();
			await expect(page.getByText(words)).toBeVisible();
			await expect(page.locator('.secret')).toHaveCount(0);
		}
		expect(await keysOn(page, area)).toEqual(before);
	});

	test('revokes no key of somebody else', async ({ page, area, browser }) => {
		await signUp(page, area);
		const key = await makeKey(page, area, 'mine');
		await page.getByRole('link', { name: /Back to keys/ }).click();
		await page.getByRole('link', { name: 'Revoke mine' }).click();
		const mine = new URL(page.url()).pathname;
		await another(browser, async (thief) => {
			await signUp(thief, area);
			const answer = await thief.goto(area.url + mine);
			expect(answer?.status()).toBe(404);
			await expect(title(thief)).toHaveText('Page not found.');
			await expect(thief.getByText('You have no such active key.')).toBeVisible();

			await makeKey(thief, area, 'theirs');
			await thief.getByRole('link', { name: /Back to keys/ }).click();
			await thief.getByRole('link', { name: 'Revoke theirs' }).click();
			await thief
				.locator('form[method=post]')
				.first()
				.evaluate((form: HTMLFormElement, to) => (form.action = to), mine);
			await thief.getByRole('button', { name: 'Revoke key' }).click();
			await expect(title(thief)).toHaveText('Page not found.');
			// The ways to the other pages are still there.
			await thief.getByRole('link', { name: 'Keys', exact: true }).click();
			await expect(entryOf(thief, 'theirs')).toBeVisible();
		});
		await area.server.advance(5_000);
		expect(await statusWith(area, key)).toBe(200);
	});

	test('ends no sign-in of somebody else', async ({ page, area, browser }) => {
		/** Two sign-ins of one person; the first one's page has a button that ends the second. */
		const twice = async (first: Page, second: Page) => {
			const email = await signUp(first, area);
			await second.goto(`${area.url}/developer/sign-in`);
			await typeSignIn(second, email, PASSWORD);
			await expect(title(second)).toHaveText('API keys');
			await first.goto(`${area.url}/developer/account`);
			return first.locator('form[action="?/session"] input[name=id]');
		};
		await another(browser, (one) =>
			another(browser, async (two) => {
				const theirs = await (await twice(one, two)).inputValue();
				await another(browser, async (own) => {
					const field = await twice(page, own);
					await field.evaluate((input: HTMLInputElement, to) => (input.value = to), theirs);
					await page.getByRole('button', { name: 'Sign out there', exact: true }).click();
					await expect(page.getByRole('alert')).toHaveText(/^You are not signed in there/);
				});
				await two.reload();
				await expect(title(two)).toHaveText('API keys');
			})
		);
	});
});
