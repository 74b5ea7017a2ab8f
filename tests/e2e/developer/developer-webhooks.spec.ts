/** Webhooks and test payments in the developer area, as a person with a browser uses them. */
import type { Page } from '@playwright/test';
import { isAll } from '../../support/all.ts';
import { another, signInAs, signUp, test, title, type Area } from '../support/developers.ts';
import { expect } from '../support/test.ts';

const SECRET = /^whsec_[A-Za-z0-9+/=]+$/;
const minuteMs = 60_000;

let count = 0;
const freshPath = () => `/hook${(count += 1)}`;

/** Adds a webhook and goes to its page. @returns its secret */
async function add(page: Page, area: Area, path: string): Promise<string> {
	await page.goto(`${area.url}/developer/webhooks/new`);
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
			await page.getByRole('link', { name: 'Add webhook' }).click();
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
			await page.getByRole('link', { name: 'Remove…' }).click();
			await page.getByRole('button', { name: 'Remove webhook' }).click();
			await expect(page.getByRole('status')).toHaveText('The webhook and its log are removed.');
			expect((await page.goto(here))?.status()).toBe(404);
		});
	});
}

test.describe('without script', () => {
	test.use({ javaScriptEnabled: false });

	test('all failed deliveries are sent again at once', async ({ page, area }) => {
		const path = freshPath();
		area.receiver.reply(path, { status: 503 });
		await signUp(page, area);
		await add(page, area, path);
		const here = page.url();
		for (let tries = 0; tries < 2; tries += 1) {
			await page.goto(here);
			await sendTest(page, 'HTTP 503');
		}
		area.receiver.reply(path, { status: 204 });
		await page.goto(here);
		await page.getByRole('button', { name: 'Send all again' }).click();
		await expect(page.getByRole('status')).toHaveText('2 deliveries are sent again.');
		await expect.poll(() => area.receiver.at(path).length).toBe(4);
	});

	test('a test payment is settled in each way', async ({ page, area }) => {
		await signUp(page, area);
		await page.getByRole('link', { name: 'Test payments' }).click();
		await expect(page.getByText('None. Start a test payment')).toBeVisible();
		for (const [outcome, words] of [
			['Paid', /^Payment \d+ is success\.$/],
			['Payer declines', /^Payment \d+ is failed\.$/],
			['Too little money', /^Payment \d+ is failed\.$/],
			['Payer does not answer', /^Payment \d+ is failed\.$/],
			['Paid another amount', /^Payment \d+ is (refund_pending|refunded)\.$/],
			['Paid too late', /^Payment \d+ is pending; decided: Paid too late\.$/],
			['Network never answers', /^Payment \d+ is pending; decided: Network never answers\.$/]
		] as const) {
			await page.getByRole('button', { name: 'Start a test payment' }).click();
			// The newest is on top; what has been decided for later stays below it.
			await page.getByRole('button', { name: outcome, exact: true }).first().click();
			await expect(page.getByRole('status')).toHaveText(words);
		}
		const settled = page.getByRole('region', { name: 'Settled' });
		for (const code of ['payer_rejected', 'insufficient_funds', 'payer_timeout', 'amount_mismatch']) {
			await expect(settled.getByText(code)).toBeVisible();
		}
		// The time to pay runs out: one was paid too late, of the other nothing is known.
		await area.server.advance(10 * minuteMs + 1000);
		await expect(async () => {
			await page.reload();
			await expect(page.getByText('expired', { exact: true })).toHaveCount(2, { timeout: 100 });
		}).toPass();
		await area.server.advance(10 * minuteMs);
		await expect(async () => {
			await page.reload();
			await expect(settled.getByText('success', { exact: true })).toHaveCount(2, { timeout: 100 });
		}).toPass();
		await page.getByRole('button', { name: 'Paid', exact: true }).click();
		await expect(page.getByRole('status')).toHaveText(/^Payment \d+ is success\.$/);
		await expect(page.getByText('None. Start a test payment')).toBeVisible();
	});
});

test.describe('a form that somebody has changed', () => {
	// Script would put what was changed right again.
	test.use({ javaScriptEnabled: false });

	const sendTo = (page: Page, form: string, path: string) =>
		page.locator(form).evaluate((element: HTMLFormElement, to) => (element.action = to), path);

	test('reaches no webhook, delivery or payment of somebody else', async ({ page, area, browser }) => {
		const path = freshPath();
		await signUp(page, area);
		await add(page, area, path);
		const hook = new URL(page.url()).pathname;
		await sendTest(page, 'HTTP 200');
		const delivery = new URL(page.url()).pathname;
		await page.getByRole('link', { name: 'Test payments' }).click();
		await page.getByRole('button', { name: 'Start a test payment' }).click();
		const payment = page.locator('input[name=payment]');
		const id = await payment.inputValue();

		await another(browser, async (thief) => {
			await signUp(thief, area);
			await add(thief, area, freshPath());
			const own = thief.url();
			await sendTest(thief, 'HTTP 200');
			const ownDelivery = thief.url();
			const none = 'You have no such webhook.';

			for (const [at, form, button, to] of [
				[own, 'form[action="?/test"]', 'Send a test event', `${hook}?/test`],
				[own, 'form[action="?/status"]', 'Disable', `${hook}?/status`],
				[own, 'form[action^="?/secret"]', 'Create new secret', `${hook}?/secret`],
				[own, 'form[action="?/replay"]', 'Send all again', `${hook}?/replay`],
				[`${own}/remove`, 'form', 'Remove webhook', `${hook}/remove`],
				[ownDelivery, 'form', 'Send again', delivery]
			] as const) {
				await thief.goto(at);
				await sendTo(thief, form, to);
				await thief.getByRole('button', { name: button }).click();
				await expect(title(thief)).toHaveText('Page not found.');
				await expect(thief.getByText(none)).toBeVisible();
			}
			// A delivery of somebody else under an own webhook.
			const foreign = await thief.goto(`${own}/deliveries/${delivery.split('/').at(-1)}`);
			expect(foreign?.status()).toBe(404);
			await expect(thief.getByText('This webhook has no such delivery.')).toBeVisible();

			await thief.goto(`${area.url}/developer/payments`);
			await thief.getByRole('button', { name: 'Start a test payment' }).click();
			await thief
				.locator('input[name=payment]')
				.evaluate((input: HTMLInputElement, to) => (input.value = to), id);
			await thief.getByRole('button', { name: 'Paid', exact: true }).click();
			await expect(thief.getByRole('alert')).toHaveText(/^This payment is already settled/);
		});

		await page.reload();
		await expect(payment).toHaveValue(id);
		await page.goto(area.url + hook);
		await expect(page.getByText('active', { exact: true })).toBeVisible();
		await expect(page.getByText('signs too, until')).toHaveCount(0);
		await expect(page.locator('tbody tr')).toHaveCount(1);
		expect(area.receiver.at(path)).toHaveLength(1);
	});
});
