/** The kiosk while something is missing: a connection, an answer, the router, a buyer who has left. */
import { expect, freshNumber, grouped } from '../../support/test.ts';
import { test } from '../../support/kiosk.ts';
import { openSql } from '../../../support/database/sql.ts';

/** A demo router that is closed. */
const OFFLINE_ROUTER = 15;
const ORDERS = '**/kiosk/*?order';
const PURCHASES = '**/s/*/kiosk';

test('a screen that is cleared during a payment says that the payment is safe, and the payment continues', async ({
	kiosk,
	page,
	portal,
	browser
}) => {
	await page.clock.install();
	await kiosk.open();
	await kiosk.buy(freshNumber('006'));
	await kiosk.asked();
	const { text: address = '' } = await kiosk.scan(/on a phone/);
	const code = await page.locator('.large').innerText();
	await expect(page.locator('main')).toContainText(`open ${new URL(portal.url).host}/resume`);
	// Longer than a screen on which somebody chooses: approving on the phone takes its time.
	await page.clock.runFor(100_000);
	await kiosk.asked();
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
	await expect(phonePage.getByRole('heading', { level: 1 })).toHaveText(/^Your Wi‑Fi is paid until/);
	await phonePage.close();
});

test('while the connection is gone for a minute, each step says so, stays, and goes on by itself; nothing of the buyer is left, nor charged twice', async ({
	kiosk,
	page,
	context,
	portal
}) => {
	const MINUTE = 60_000;
	const noLink = page.getByText('No connection right now.');
	const phone = freshNumber('006');
	/** The screen stays the kiosk's: never the browser's error page. */
	const passMinute = async () => {
		await page.clock.runFor(MINUTE);
		expect(page.url()).toBe(`${portal.url}/kiosk/3?idle=600`);
		await expect(page.locator('.kiosk > header')).toBeVisible();
	};
	const isGone = async (during: () => Promise<unknown>) => {
		await context.setOffline(true);
		await during();
		await passMinute();
		await context.setOffline(false);
		await expect(noLink).toBeHidden();
	};
	await page.clock.install();
	await kiosk.open(`/kiosk/3?idle=600`);
	await isGone(() => expect(noLink).toBeVisible());
	await isGone(async () => {
		await page.getByRole('radio', { name: /^30 minutes/ }).tap();
		await page.getByRole('radio', { name: /^1 hour/ }).tap();
		await kiosk.type(phone);
		await expect(noLink).toBeVisible();
	});
	await isGone(async () => {
		await kiosk.pay.tap();
		await expect(page.getByText('Your order has not been sent.')).toBeVisible();
	});
	expect(await kiosk.askedTimes(phone)).toBe(0);

	// The order arrives; its answer does not.
	await page.route(
		ORDERS,
		async (route) => {
			await route.fetch({ maxRedirects: 0 });
			await context.setOffline(true);
			await route.abort();
		},
		{ times: 1 }
	);
	await kiosk.pay.tap();
	await expect(kiosk.title).toHaveText('No connection. Please stay.');
	await passMinute();
	await context.setOffline(false);
	await kiosk.asked();

	const code = await page.locator('.large').innerText();
	await isGone(async () => {
		await expect(page.locator('[data-poll-offline]')).toBeVisible();
		await expect(page.getByRole('img', { name: /on a phone/ })).toBeVisible();
		await portal.advance(31_000);
	});
	await kiosk.paid();
	const password = await page.locator('.password').innerText();
	await isGone(async () => {
		await page.getByRole('link', { name: 'Continue on my phone' }).tap();
		await expect(noLink).toBeVisible();
		await expect(page.locator('.password')).toBeVisible();
	});
	const { text: address = '' } = await kiosk.scan(/on a phone/);

	// The screen is cleared without a connection too.
	await isGone(async () => {
		await kiosk.button('Done: clear this screen').tap();
		await kiosk.expectStart();
		await expect(noLink).toBeVisible();
	});
	await kiosk.expectStart();
	const remains = await kiosk.remains();
	for (const secret of [phone, grouped(phone), code, password, address.slice(-24)]) {
		expect(remains).not.toContain(secret);
	}
	expect(await kiosk.askedTimes(phone)).toBe(1);
});

test('an order whose answer is lost is asked for until its purchase is there, and asked of the phone once', async ({
	kiosk,
	page
}) => {
	const phone = freshNumber();
	let isBack = false;
	await page.route(ORDERS, async (route) => {
		await route.fetch({ maxRedirects: 0 });
		await route.abort();
	});
	await page.route(PURCHASES, (route) => (isBack ? route.continue() : route.abort()));
	await kiosk.open();
	await kiosk.buy(phone);
	await expect(kiosk.title).toHaveText('No connection. Please stay.');
	isBack = true;
	await kiosk.paid();
	expect(await kiosk.askedTimes(phone)).toBe(1);
});

test('an order that did not arrive is said so, with everything still there to send it again', async ({
	kiosk,
	page
}) => {
	const phone = freshNumber();
	await page.route(ORDERS, (route) => route.abort(), { times: 1 });
	await kiosk.open();
	await kiosk.buy(phone);
	await expect(page.getByText('Your order did not arrive.')).toBeVisible();
	await kiosk.pay.tap();
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
		ORDERS,
		async (route) => {
			deliver = () => route.fetch({ maxRedirects: 0 });
			await route.abort();
		},
		{ times: 1 }
	);
	await kiosk.open();
	await kiosk.buy(phone);
	await expect(page.getByText('Your order did not arrive.')).toBeVisible();
	await page.getByRole('radio', { name: /^30 minutes/ }).tap();
	await deliver();
	await kiosk.paid();
	expect(await kiosk.askedTimes(phone)).toBe(1);
});

test('a router that is closed or unknown is a calm screen that ends by itself', async ({
	kiosk,
	page,
	portal
}) => {
	await page.clock.install();
	await page.goto(`${portal.url}/kiosk/999999`);
	await expect(kiosk.title).toHaveText('No Wi‑Fi is sold here yet.');
	await page.goto(`${portal.url}/kiosk/${OFFLINE_ROUTER}`);
	await expect(page.getByText('This Wi‑Fi is closed.')).toBeVisible();
	await expect(page.locator('main').getByRole('link')).toHaveCount(0);
	const sql = await openSql(portal.service.databaseUrl);
	await sql.run("update routers set status = 'online' where id = ?", OFFLINE_ROUTER);
	// A portal of a remote service remembers a router for half a minute.
	await portal.advance(31_000);
	await expect(async () => {
		await page.clock.runFor(5_000);
		await expect(kiosk.number).toBeVisible({ timeout: 500 });
	}).toPass();
	await sql.run("update routers set status = 'offline' where id = ?", OFFLINE_ROUTER);
	await sql.close();
});
