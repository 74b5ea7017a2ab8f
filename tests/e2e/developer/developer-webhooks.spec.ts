/** Webhooks in the developer area, as a person with a browser uses them. */
import type { Page } from '@playwright/test';
import { isAll } from '../../support/all.ts';
import type { Area } from '../support/area.ts';
import { signInAs, test, title } from '../support/developers.ts';
import { expect } from '../support/test.ts';

const SECRET = /^whsec_[A-Za-z0-9+/=]+$/;

let count = 0;
const freshPath = () => `/hook${(count += 1)}`;

/** Adds a webhook and goes to its page. @returns its secret */
async function add(page: Page, area: Area, path: string): Promise<string> {
	await page.goto(`${area.url}/developer/webhooks`);
	// Folded once there is a webhook.
	const folded = page.locator('details:not([open]) > summary').filter({ hasText: 'Add webhook' });
	if ((await folded.count()) > 0) await folded.click();
	await page.getByLabel('Address on your server').fill(area.receiver.url + path);
	await page.getByRole('button', { name: 'Add webhook' }).click();
	await expect(title(page)).toHaveText('Your new webhook');
	const secret = await page.locator('.secret').innerText();
	await page.getByRole('link', { name: 'Go to the webhook' }).click();
	await expect(title(page)).toHaveText(area.receiver.url + path);
	return secret;
}

/** Sends a test event from the webhook's page, and sees what came back. */
async function sendTest(page: Page, answer: string): Promise<void> {
	await page.getByRole('button', { name: 'Send a test event' }).click();
	await expect(title(page)).toHaveText('webhook.test');
	await expect(page.getByRole('region', { name: 'Responses' })).toContainText(answer);
}

for (const javaScriptEnabled of isAll ? [true, false] : [false]) {
	test.describe(javaScriptEnabled ? 'with script' : 'without script', () => {
		test.use({ javaScriptEnabled });

		test('a webhook is added, tried, sent again, given a new secret and removed', async ({ page, area }) => {
			const path = freshPath();
			area.receiver.reply(path, { status: 500, body: '{"error":"away <b>"}' });
			await signInAs(page, area, 'app');
			await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
			await page.getByLabel('Address on your server').fill('https://user:pass@app.example.com/');
			await page.getByRole('button', { name: 'Add webhook' }).click();
			await expect(page.getByText('Leave out the username and password.')).toBeVisible();
			const secret = await add(page, area, path);
			expect(secret).toMatch(SECRET);
			const here = page.url();

			await sendTest(page, 'HTTP 500');
			await expect(page.getByText('{"error":"away <b>"}')).toBeVisible();
			const request = page.getByRole('region', { name: 'Request' });
			await expect(request).toContainText(`POST ${area.receiver.url}${path}`);
			await expect(request).toContainText('"type": "webhook.test"');
			expect(await page.content()).not.toContain(secret);

			area.receiver.reply(path, { status: 200 });
			await page.getByRole('button', { name: 'Send again' }).click();
			await expect(page.getByRole('status')).toHaveText('It is sent again, with the same id.');
			await expect.poll(() => area.receiver.at(path).length).toBe(2);
			const [first, second] = area.receiver.at(path);
			expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
			await expect(page.getByText('delivered', { exact: true })).toBeVisible();
			await expect(page.getByRole('region', { name: 'Responses' }).getByRole('listitem')).toHaveCount(2);

			await page.goto(here);
			await page.getByRole('link', { name: 'Failed', exact: true }).click();
			await expect(page.getByText('No matching deliveries.')).toBeVisible();
			await page.getByRole('link', { name: 'Delivered', exact: true }).click();
			await expect(page.locator('tbody tr')).toHaveCount(1);

			await page.getByRole('button', { name: 'Create new secret' }).click();
			const newSecret = await page.locator('.secret').innerText();
			expect(newSecret).toMatch(SECRET);
			expect(newSecret).not.toBe(secret);
			await page.goto(here);
			await expect(page.getByText('The previous secret works until')).toBeVisible();
			await expect(page.locator('.secret')).toHaveCount(0);
			await sendTest(page, 'HTTP 200');
			expect(area.receiver.at(path).at(-1)?.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/);

			area.receiver.reply(path, { status: 503 });
			await page.goto(here);
			await sendTest(page, 'HTTP 503');
			area.receiver.reply(path, { status: 204 });
			await page.goto(here);
			await page.getByRole('button', { name: 'Send all again' }).click();
			await expect(page.getByRole('status')).toHaveText('1 delivery is sent again.');

			await page.goto(here);
			await page.getByText(/^Events: /).click();
			await page.getByRole('checkbox', { name: /^session\.created/ }).check();
			await page.getByRole('button', { name: 'Save events' }).click();
			await expect(page.getByRole('status')).toHaveText('The events are saved.');
			await expect(page.getByText(/^Events: .*session\.created/)).toBeVisible();
			await page.getByRole('button', { name: 'Disable' }).click();
			await expect(page.getByRole('button', { name: 'Send a test event' })).toHaveCount(0);
			await page.getByRole('button', { name: 'Enable' }).click();
			await expect(page.getByRole('status')).toHaveText('The webhook is enabled.');
			await page.getByText('Remove…').click();
			await page.getByRole('button', { name: 'Remove webhook' }).click();
			await expect(page.getByRole('status')).toHaveText('The webhook and its log are removed.');
			expect((await page.goto(here))?.status()).toBe(404);
		});
	});
}
