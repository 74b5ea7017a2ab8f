/** The kiosk while something is missing: a connection, an answer, the router, a buyer who has left. */
import { expect, freshNumber } from '../../support/test.ts';
import { test } from '../../support/kiosk.ts';
import { openSql } from '../../../support/database/sql.ts';

/** A demo router that is closed. */
const OFFLINE_ROUTER = 15;

test('a screen that is cleared during a payment says that the payment is safe, and the payment continues', async ({
	kiosk,
	page,
	portal,
	browser
}) => {
	const phone = freshNumber('006');
	await page.clock.install();
	await kiosk.open();
	await kiosk.buy(phone);
	await expect(kiosk.title).toHaveText('Check your phone.');
	const { text: address = '' } = await kiosk.scan(/on a phone/);
	const code = await page.locator('.kiosk-code .large').innerText();
	await expect(page.getByText(`open ${new URL(portal.url).host}/resume`)).toBeVisible();
	// Longer than a screen on which somebody chooses: approving on the phone takes its time.
	await page.clock.runFor(100_000);
	await expect(kiosk.title).toHaveText('Check your phone.');
	await page.clock.runFor(90_000);
	await expect(page.getByText(/The screen was cleared during a payment\./)).toBeVisible();
	const remains = await kiosk.remains();
	for (const secret of [code, address.slice(-24)]) expect(remains).not.toContain(secret);
	await portal.advance(31_000);
	// What the screen said is true: with the code, on any device.
	const phonePage = await browser.newPage();
	await phonePage.goto(`${portal.url}/resume`);
	await phonePage.getByLabel('Your code').fill(code);
	await phonePage.getByRole('button', { name: 'Open my purchase' }).click();
	await expect(phonePage).toHaveURL(address);
	await expect(phonePage.getByRole('heading', { level: 1 })).toHaveText(/^Your Wi‑Fi is paid until/, {
		timeout: 30_000
	});
	await phonePage.close();
});

test('without a connection the kiosk says so, keeps the purchase on its screen, and goes on by itself', async ({
	kiosk,
	page,
	context,
	portal
}) => {
	await kiosk.open();
	await context.setOffline(true);
	await expect(page.getByText('No connection right now.')).toBeVisible();
	await expect(kiosk.begin).toBeDisabled();
	await context.setOffline(false);
	await expect(kiosk.begin).toBeEnabled();

	await kiosk.buy(freshNumber('006'));
	await expect(kiosk.title).toHaveText('Check your phone.');
	await context.setOffline(true);
	await expect(page.getByText('your payment is safe').first()).toBeVisible({ timeout: 30_000 });
	await expect(page.getByRole('img', { name: /on a phone/ })).toBeVisible();
	await portal.advance(31_000);
	await context.setOffline(false);
	await expect(kiosk.title).toHaveText(/^Your Wi‑Fi is paid until/, { timeout: 45_000 });
});

test('an order whose answer is lost is asked for until its purchase is there, and asked of the phone once', async ({
	kiosk,
	page
}) => {
	const phone = freshNumber();
	let answered = false;
	await page.route('**/kiosk/*/buy', async (route) => {
		await route.fetch();
		await route.abort();
	});
	await page.route('**/kiosk/*/purchase', (route) => (answered ? route.continue() : route.abort()));
	await kiosk.open();
	await kiosk.choose(phone);
	await kiosk.button('Pay UGX 500').tap();
	await expect(kiosk.title).toHaveText('No connection. Please stay.');
	answered = true;
	await kiosk.paid();
	expect(await kiosk.askedTimes(phone)).toBe(1);
});

test('an order that did not arrive is said so, with everything still there to send it again', async ({
	kiosk,
	page
}) => {
	const phone = freshNumber();
	await page.route('**/kiosk/*/buy', (route) => route.abort(), { times: 1 });
	await kiosk.open();
	await kiosk.choose(phone);
	await kiosk.button('Pay UGX 500').tap();
	await expect(page.getByRole('alert').filter({ hasText: 'Your order did not arrive.' })).toBeVisible();
	await kiosk.button('Pay UGX 500').tap();
	await kiosk.paid();
	expect(await kiosk.askedTimes(phone)).toBe(1);
});

test('an order that arrives after the screen said that it did not is shown, also while another one is chosen', async ({
	kiosk,
	page
}) => {
	const phone = freshNumber();
	let deliver: () => Promise<unknown> = () => Promise.resolve();
	await page.route(
		'**/kiosk/*/buy',
		async (route) => {
			deliver = () => route.fetch();
			await route.abort();
		},
		{ times: 1 }
	);
	await kiosk.open();
	await kiosk.choose(phone);
	await kiosk.button('Pay UGX 500').tap();
	await expect(page.getByRole('alert').filter({ hasText: 'Your order did not arrive.' })).toBeVisible();
	await kiosk.button('Change: Time').tap();
	await deliver();
	await kiosk.paid();
	expect(await kiosk.askedTimes(phone)).toBe(1);
});

test('a router that is closed or unknown is a calm screen that ends by itself', async ({
	kiosk,
	page,
	portal
}) => {
	await page.goto(`${portal.url}/kiosk/999999`);
	await expect(kiosk.title).toHaveText('No Wi‑Fi is sold here yet.');
	await page.goto(`${portal.url}/kiosk/${OFFLINE_ROUTER}`);
	await expect(kiosk.title).toHaveText('This Wi‑Fi is closed.');
	await expect(page.getByRole('link')).toHaveCount(0);
	const sql = await openSql(portal.service.databaseUrl);
	await sql.run("update routers set status = 'online' where id = ?", OFFLINE_ROUTER);
	// A portal of a remote service remembers a router for half a minute.
	await portal.advance(31_000);
	await expect(kiosk.begin).toBeEnabled({ timeout: 30_000 });
	await sql.run("update routers set status = 'offline' where id = ?", OFFLINE_ROUTER);
	await sql.close();
});
