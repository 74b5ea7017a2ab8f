/** A portal whose service limits it: the script of a waiting page waits, too. In set-up `remote` only. */
import { startServer } from '../../support/server/server.ts';
import { demoKey } from '../support/portal.ts';
import { expect, freshNumber, ROUTER, test } from '../support/test.ts';

const LIMIT = 12;
const MINUTE = 60_000;
/** The rest of the limit's window when the buyer meets it: a page must wait this long. */
const LEFT_MS = 4_000;

// What the pages say, and that nothing is lost or charged twice: tests/api/portal/remote/limited.test.ts.
test(
	'a waiting page goes on after the limit, until the password is there',
	{ tag: '@remote' },
	async ({ page }) => {
		const service = await startServer({ env: { RATE_LIMIT_DEFAULT: String(LIMIT) } });
		const key = demoKey(service, 'app');
		const pages = await startServer({
			env: { AIRTILL_API_URL: `${service.url}/v1`, AIRTILL_API_KEY: key }
		});
		const advance = async (ms: number) => {
			for (const server of [service, pages]) await server.advance(ms);
		};
		try {
			await page.goto(`${pages.url}/r/${ROUTER}`);
			await page.getByLabel('Your mobile-money number').fill(freshNumber('123'));
			await advance(MINUTE + 1_000);
			// Session and payment; the page behind them knows both from their answers.
			for (let call = 0; call < LIMIT - 2; call += 1) {
				await fetch(`${service.url}/v1/routers/1`, { headers: { authorization: `Bearer ${key}` } });
			}
			await advance(MINUTE - LEFT_MS);
			await page.getByRole('button', { name: /^Pay/ }).click();
			await expect(page.getByText('Many people are buying right now.')).toBeVisible();
			await expect(page.getByRole('heading', { level: 1 })).toHaveText(/^Your Wi‑Fi is paid until/);
			await expect(page.locator('.password')).toBeVisible();
		} finally {
			await pages.stop();
			await service.stop();
		}
	}
);
