import type { Browser, BrowserContext, Page } from '@playwright/test';
import type { TestServer } from '../../support/server/server.ts';
import type { Area } from './area.ts';
import { expect, test as base } from './test.ts';

export const PASSWORD = 'a long enough password';

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

let lastPerson = 0;
/** An address that nobody used before in this worker. */
export const someone = () => `person${(lastPerson += 1)}@people.example`;

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

/** Signs in as a demo account. */
export async function signInAs(page: Page, area: Area, role: 'app' | 'owner'): Promise<void> {
	const email = `${role}@airtill.example`;
	await page.goto(`${area.url}/developer/sign-in`);
	await typeSignIn(page, email, demoPassword(area.server, email));
	await page.waitForURL(/\/developer\/keys$/);
}

/**
 * Signs up with a new address, by the forms of the pages but without looking at them, and opens the first page
 * behind the sign-in. @returns the address
 */
export async function signUp(page: Page, area: Area): Promise<string> {
	const email = someone();
	const headers = { origin: area.url };
	await page.request.post(`${area.url}/developer/sign-up`, { form: { email }, headers });
	await page.request.post(await area.mailedLink(email), { form: { password: PASSWORD }, headers });
	await page.goto(`${area.url}/developer/keys`);
	await expect(title(page)).toHaveText('API keys');
	return email;
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

/** The status of a call with a key. */
export async function statusWith(area: Area, key: string, path = '/v1/routers?lat=0.3476&lon=32.5825') {
	const response = await fetch(area.server.url + path, { headers: { authorization: `Bearer ${key}` } });
	await response.arrayBuffer();
	return response.status;
}
