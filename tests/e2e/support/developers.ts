import type { Browser, BrowserContext, Page } from '@playwright/test';
import { startPostgres } from '../../support/server/postgres.ts';
import { startReceiver, type Receiver } from '../../support/api/receiver.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { openSql } from '../../support/server/sql.ts';
import { expect, test as base } from './test.ts';

/** An installation whose developer area is under test, with a program that takes its webhooks in. */
export interface Area {
	url: string;
	server: TestServer;
	receiver: Receiver;
	/** Lets the minute of the sign-in's limits pass; PostgreSQL counts by a clock of its own. */
	triesForgotten(): Promise<void>;
	/** The link in the newest of so many mails to an address, as the sandbox prints it. */
	mailedLink(email: string, count?: number): Promise<string>;
}

const minuteMs = 60_000;

export const PASSWORD = 'a long enough password';

/** Each test starts with no tries counted. */
export const test = base.extend<{ fresh: undefined }, { area: Area }>({
	area: [
		async ({ setUp }, use) => {
			const postgres = setUp === 'postgres' ? await startPostgres() : null;
			const server = await startServer({
				database: postgres ? await postgres.createDatabase() : 'sqlite',
				env: { WEBHOOK_ALLOW_INSECURE: '1' }
			});
			const sql = await openSql(server.databaseUrl);
			const receiver = await startReceiver();
			await use({
				url: `http://localhost:${server.port}`,
				server,
				receiver,
				async triesForgotten() {
					await server.advance(minuteMs + 1);
					if (postgres) await sql.run('delete from rate_heads');
				},
				async mailedLink(email, count = 1) {
					const link = () => {
						const mails = server.stdout().split(`\nTo: ${email}\n`).slice(1);
						return /^https?:\S+$/m.exec(mails[count - 1]?.split('\n---')[0] ?? '')?.[0] ?? '';
					};
					await expect.poll(link, { message: `mail ${count} to ${email}` }).not.toBe('');
					return link();
				}
			});
			await receiver.stop();
			await sql.close();
			await server.stop();
			await postgres?.stop();
		},
		{ scope: 'worker', timeout: 120_000 }
	],
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

/** Makes a key of role app. @returns the key, as it is shown once */
export async function makeKey(page: Page, area: Area, name: string): Promise<string> {
	await page.goto(`${area.url}/developer/keys/new`);
	await page.getByLabel('Name').fill(name);
	await page.getByRole('button', { name: 'Create key' }).click();
	await expect(title(page)).toHaveText('Your new key');
	return page.locator('.secret').innerText();
}

/** The status of a call with a key. */
export async function statusWith(area: Area, key: string, path = '/v1/routers?lat=0.3476&lon=32.5825') {
	const response = await fetch(area.server.url + path, { headers: { authorization: `Bearer ${key}` } });
	await response.arrayBuffer();
	return response.status;
}
