/** A portal whose service limits it: buyers read why, wait, and lose nothing. In set-up `remote` only. */
import { test as base, type Page } from '@playwright/test';
import { isAll } from '../../support/all.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { demoKey } from '../support/portal.ts';
import { expect, freshNumber, grouped, ROUTER, unfold } from '../support/test.ts';

const LIMIT = 12;
const windowMs = 60_000;
/** The rest of the limit's window when the buyer meets it: a page must wait this long. */
const leftMs = 4_000;

interface Limited {
	url: string;
	/** Uses the key up, but for so many calls; the service takes more in `leftMs`. */
	leave(calls: number): Promise<void>;
	windowPasses(): Promise<void>;
}

const test = base.extend<object, { limited: Limited }>({
	limited: [
		// eslint-disable-next-line no-empty-pattern -- Playwright reads the names of fixtures off this pattern
		async ({}, use) => {
			const service = await startServer({ env: { RATE_LIMIT_DEFAULT: String(LIMIT) } });
			const key = demoKey(service, 'app');
			const pages = await startServer({
				env: { AIRTILL_API_URL: `${service.url}/v1`, AIRTILL_API_KEY: key }
			});
			await use(limitedPortal(service, pages, key));
			await pages.stop();
			await service.stop();
		},
		{ scope: 'worker', timeout: 120_000 }
	]
});

function limitedPortal(service: TestServer, pages: TestServer, key: string): Limited {
	const advance = async (ms: number) => {
		await service.advance(ms);
		await pages.advance(ms);
	};
	const windowPasses = () => advance(windowMs + 1000);
	return {
		url: pages.url,
		windowPasses,
		async leave(calls) {
			await windowPasses();
			for (let call = 0; call < LIMIT - calls; call += 1) {
				await fetch(`${service.url}/v1/routers/1`, { headers: { authorization: `Bearer ${key}` } });
			}
			await advance(windowMs - leftMs);
		}
	};
}

const title = (page: Page) => page.getByRole('heading', { level: 1 });

async function fill(page: Page, limited: Limited, phone: string) {
	await page.goto(`${limited.url}/r/${ROUTER}`);
	await page.getByRole('radio', { name: /^1 hour/ }).check();
	await unfold(page);
	await page.getByRole('radio', { name: 'MTN MoMo' }).check();
	await page.getByLabel('Your mobile-money number').fill(phone);
}

const pay = (page: Page) => page.getByRole('button', { name: /^Pay/ }).click();

// Without script: tests/api/portal/remote/limited.test.ts.
for (const javaScriptEnabled of isAll ? [true, false] : [true]) {
	test.describe(javaScriptEnabled ? 'with script' : 'without script', { tag: '@remote' }, () => {
		test.use({ javaScriptEnabled });

		test('a page that cannot be shown says so calmly and comes by itself', async ({ page, limited }) => {
			await limited.leave(0);
			// Another router each time: one that the portal has read is shown from its memory.
			const response = await page.goto(`${limited.url}/r/${javaScriptEnabled ? 5 : 6}`);
			expect(response?.status()).toBe(503);
			await expect(title(page)).toHaveText('Many people are buying right now.');
			await expect(page.getByText(/tries again automatically in \d+ seconds?/)).toBeVisible();
			await expect(page.getByLabel('Your mobile-money number')).toBeVisible({ timeout: 20_000 });
		});

		test('an order that cannot be sent keeps what was typed, and the button sends it later', async ({
			page,
			limited
		}) => {
			const phone = freshNumber('008');
			await limited.windowPasses();
			await fill(page, limited, phone);
			await limited.leave(0);
			await pay(page);
			await expect(page.getByRole('alert')).toContainText('Many people are buying right now.');
			await expect(
				page.getByText(`We kept the number that you entered: ${javaScriptEnabled ? grouped(phone) : phone}.`)
			).toBeVisible();
			await expect(page.locator('input[name="time"]')).toHaveValue(/^1h /);
			await limited.windowPasses();
			await pay(page);
			await expect(title(page)).toHaveText(/^Your Wi‑Fi is paid until/);
		});

		test('a waiting page goes on after the limit, until the password is there', async ({ page, limited }) => {
			await limited.windowPasses();
			await fill(page, limited, freshNumber('123'));
			// Session and payment; the page behind them knows both from their answers.
			await limited.leave(2);
			await page.getByRole('button', { name: /^Pay/ }).click();
			await expect(title(page)).toHaveText(/Check your phone.|Many people are buying right now./);
			if (javaScriptEnabled) await expect(page.getByText('Many people are buying right now.')).toBeVisible();
			await expect(title(page)).toHaveText(/^Your Wi‑Fi is paid until/);
			await expect(page.locator('.password')).toBeVisible();
		});
	});
}
