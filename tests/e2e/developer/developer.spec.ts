/** The way into the developer area, as a person with a browser goes it: with script and without. */
import type { Page } from '@playwright/test';
import { isAll } from '../../support/all.ts';
import type { Area } from '../support/area.ts';
import { PASSWORD, someone, test, title, typeSignIn } from '../support/developers.ts';
import { expect } from '../support/test.ts';

const signIn = async (page: Page, area: Area, email: string, password = PASSWORD) => {
	await page.goto(`${area.url}/developer/sign-in`);
	await typeSignIn(page, email, password);
};

for (const javaScriptEnabled of isAll ? [true, false] : [true]) {
	test.describe(javaScriptEnabled ? 'with script' : 'without script', () => {
		test.use({ javaScriptEnabled });

		test('one signs up by a mailed link, and signs out and in', async ({ page, area }) => {
			const email = someone();
			await page.goto(`${area.url}/developer`);
			await expect(title(page)).toHaveText('Sign in');
			await page.getByRole('link', { name: 'Create an account' }).click();
			await page.getByLabel('Email address').fill(email);
			await page.getByRole('button', { name: 'Send link' }).click();
			await expect(page.getByText(`If ${email} can have an account here, we have sent a link`)).toBeVisible();
			// The address is not confirmed by asking, only by opening the mail.
			const link = await area.mailedLink(email);
			await signIn(page, area, email);
			await expect(page.getByRole('alert')).toHaveText('The email address or the password is wrong.');

			await page.goto(link);
			await expect(page.getByText(`For ${email}.`)).toBeVisible();
			await page.getByLabel('New password').fill(PASSWORD);
			await page.getByRole('button', { name: 'Save and sign in' }).click();
			await expect(title(page)).toHaveText('API keys');
			await expect(page.getByText('You have no keys yet.')).toBeVisible();

			await page.getByRole('link', { name: 'Account' }).click();
			await expect(page.locator('.lines')).toContainText(email);
			await expect(page.locator('.lines')).toContainText('app');
			await page.getByLabel('Current password').fill('not the password');
			await page.getByLabel('New password').fill('another long password');
			await page.getByRole('button', { name: 'Change password' }).click();
			await expect(page.getByRole('alert')).toHaveText('The current password is wrong.');
			// It stands far down, so the page comes back there.
			await expect(page.getByRole('alert')).toBeInViewport();
			await page.getByRole('button', { name: 'Sign out', exact: true }).click();
			await expect(title(page)).toHaveText('Sign in');
			await page.goto(`${area.url}/developer/account`);
			await expect(page).toHaveURL(/\/developer\/sign-in\?next=/);
			await typeSignIn(page, email, PASSWORD);
			await expect(page).toHaveURL(/\/developer\/account$/);
			await page.goto(link);
			await expect(title(page)).toHaveText('This link does not work any more');
		});
	});
}
