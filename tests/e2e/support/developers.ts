import type { Browser, BrowserContext, Page } from '@playwright/test';
import type { TestServer } from '../../support/server/server.ts';
import { test as base } from './test.ts';

/** Each test starts with no tries counted. */
export const test = base.extend<{ fresh: undefined }>({
	fresh: [
		async ({ area }, use) => {
			await area.triesForgotten();
			await use(undefined);
		},
		{ auto: true }
	]
});

/** The password of a demo account, as the server prints it. */
export function demoPassword(server: TestServer, email: string): string {
	const password = new RegExp(`^ +${email} +password (\\S+)$`, 'm').exec(server.stdout())?.[1];
	if (!password) throw new Error(`The server printed no password for ${email}`);
	return password;
}

/** Fills the sign-in form and sends it. */
export async function typeSignIn(page: Page, email: string, password: string): Promise<void> {
	await page.getByLabel('Email address').fill(email);
	await page.getByLabel('Password').fill(password);
	await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Another person's browser: nothing of this one's is in it. */
export async function another(browser: Browser, work: (page: Page) => Promise<void>): Promise<void> {
	const context: BrowserContext = await browser.newContext();
	try {
		await work(await context.newPage());
	} finally {
		await context.close();
	}
}

export const title = (page: Page) => page.getByRole('heading', { level: 1 });
