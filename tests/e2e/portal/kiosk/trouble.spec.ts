/** The kiosk while something is missing: a connection, an answer, the router, a buyer who has left. */
import { expect, freshNumber, grouped, ROUTER } from '../../support/test.ts';
import { test, type Kiosk } from '../../support/kiosk.ts';
import { newVoucher } from '../../support/offers.ts';
import { openSql } from '../../../support/database/sql.ts';

/** A demo router that is closed. */
const OFFLINE_ROUTER = 15;
const ORDERS = '**/kiosk/*?order';
const MINUTE = 60_000;
/** A demo router at which nothing but a voucher is bought. */
const VOUCHER_ROUTER = 22;

/** The screen stays the kiosk's: never the browser's error page. */
async function passMinute({ page }: Kiosk) {
	await page.clock.runFor(MINUTE);
	expect(page.url()).toMatch(/\/kiosk\/\d+\?idle=600$/);
	await expect(page.locator('.kiosk > header')).toBeVisible();
}

/** Takes a step while the connection is gone, which then comes back after a minute. */
async function isGone(kiosk: Kiosk, during: () => Promise<unknown>) {
	await kiosk.page.context().setOffline(true);
	await during();
	await passMinute(kiosk);
	await kiosk.page.context().setOffline(false);
	await expect(kiosk.page.getByText('No connection right now.')).toBeHidden();
}

/** Sends a form that arrives, and loses its answer and the connection for a minute. */
async function loseAnswer(kiosk: Kiosk, address: string, send: () => Promise<unknown>) {
	const { page } = kiosk;
	await page.route(
		address,
		async (route) => {
			await route.fetch({ maxRedirects: 0 });
			await page.context().setOffline(true);
			await route.abort();
		},
		{ times: 1 }
	);
	await send();
	await expect(kiosk.title).toHaveText('No connection. Please stay.');
	await passMinute(kiosk);
	await page.context().setOffline(false);
}

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
	portal
}) => {
	const noLink = page.getByText('No connection right now.');
	const phone = freshNumber('006');
	await page.clock.install();
	await kiosk.open(`/kiosk/${ROUTER}?idle=600`);
	await isGone(kiosk, () => expect(noLink).toBeVisible());
	await isGone(kiosk, async () => {
		await page.getByRole('radio', { name: /^30 minutes/ }).tap();
		await page.getByRole('radio', { name: /^1 hour/ }).tap();
		await kiosk.type(phone);
		await expect(noLink).toBeVisible();
	});
	await isGone(kiosk, async () => {
		await kiosk.pay.tap();
		await expect(page.getByText('Your order has not been sent.')).toBeVisible();
	});
	expect(await kiosk.askedTimes(phone)).toBe(0);

	await loseAnswer(kiosk, ORDERS, () => kiosk.pay.tap());
	await kiosk.asked();

	const code = await page.locator('.large').innerText();
	await isGone(kiosk, async () => {
		await expect(page.locator('[data-poll-offline]')).toBeVisible();
		await expect(page.getByRole('img', { name: /on a phone/ })).toBeVisible();
		await portal.advance(31_000);
	});
	await kiosk.paid();
	const password = await page.locator('.password').innerText();
	await isGone(kiosk, async () => {
		await page.getByRole('link', { name: 'Continue on my phone' }).tap();
		await expect(noLink).toBeVisible();
		await expect(page.locator('.password')).toBeVisible();
	});
	const { text: address = '' } = await kiosk.scan(/on a phone/);

	// The screen is cleared without a connection too.
	await isGone(kiosk, async () => {
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

test('so do the steps after a decline, of another order, and to another language', async ({
	kiosk,
	page
}) => {
	const html = page.locator('html');
	const unsent = page.getByText('Your order has not been sent.');
	await page.clock.install();
	await kiosk.open(`/kiosk/${ROUTER}?idle=600`);
	await isGone(kiosk, async () => {
		await page.getByRole('link', { name: 'Kiswahili' }).tap();
		await expect(page.getByText('No connection right now.')).toBeVisible();
	});
	await expect(html).toHaveAttribute('lang', 'sw');
	await page.getByRole('link', { name: 'English' }).tap();
	await expect(html).toHaveAttribute('lang', 'en');

	const declining = freshNumber('001');
	const again = kiosk.button('Try again: pay UGX 500');
	await kiosk.buy(declining);
	await expect(again).toBeVisible();
	await isGone(kiosk, async () => {
		await again.tap();
		await expect(unsent).toBeVisible();
	});
	expect(await kiosk.askedTimes(declining)).toBe(1);
	await loseAnswer(kiosk, '**/s/*/kiosk?/retry', () => again.tap());
	await expect(again).toBeVisible();
	expect(await kiosk.askedTimes(declining)).toBe(2);
	await page.getByRole('link', { name: 'Choose another time' }).tap();

	const phone = freshNumber('003');
	const another = kiosk.button('Buy another: pay UGX 500');
	await kiosk.buy(phone);
	await kiosk.asked();
	await kiosk.button('Start over').tap();
	await kiosk.buy(phone);
	await isGone(kiosk, async () => {
		await another.tap();
		await expect(unsent).toBeVisible();
	});
	await loseAnswer(kiosk, ORDERS, () => another.tap());
	await kiosk.asked();
	expect(await kiosk.askedTimes(phone)).toBe(2);
});

test('a voucher is redeemed once, whatever its step loses, and says its devices', async ({
	kiosk,
	page,
	portal
}) => {
	const offer = { name: 'Day', duration: '1d', price: 1000, max_devices: 3 };
	const code = await newVoucher(portal, VOUCHER_ROUTER, offer);
	const redemptions = `**/kiosk/${VOUCHER_ROUTER}/redeem`;
	const start = kiosk.button('Start my time');
	await page.clock.install();
	await kiosk.open(`/kiosk/${VOUCHER_ROUTER}?idle=600`);
	await isGone(kiosk, async () => {
		await page.getByRole('link', { name: 'Use a voucher' }).tap();
		await expect(page.getByText('No connection right now.')).toBeVisible();
	});
	for (const key of code.replace(/-/g, '')) await kiosk.button(key).tap();
	await expect(page.getByLabel('Code on your voucher')).toHaveValue(code);
	await isGone(kiosk, async () => {
		await start.tap();
		await expect(page.getByText('Your voucher has not been used.')).toBeVisible();
	});
	// It does not arrive.
	await page.route(
		redemptions,
		async (route) => {
			await page.clock.runFor(30_000);
			await expect(kiosk.button('Checking your voucher…')).toBeVisible();
			await route.abort();
		},
		{ times: 1 }
	);
	await start.tap();
	const again = 'Your order did not arrive. Press “Start my time” to send it again.';
	await expect(page.getByText(again)).toBeVisible();
	await loseAnswer(kiosk, redemptions, () => start.tap());
	await kiosk.paid();
	await expect(page.getByText('3 devices')).toBeVisible();

	// A wrong code can be left, and is no purchase.
	await kiosk.button('Done: clear this screen').tap();
	await page.clock.runFor(10_500);
	await page.getByRole('link', { name: 'Use a voucher' }).tap();
	await kiosk.button('K').tap();
	await kiosk.button('Start over').tap();
	await kiosk.expectStart();
	await expect(kiosk.button(/^Show my purchase again/)).toBeHidden();
});

test('who goes back while an order is being sent gets to it for ten seconds', async ({ kiosk, page }) => {
	let arrive = () => {};
	const arrived = new Promise<void>((resolve) => (arrive = resolve));
	// Its answer does not come.
	await page.route(ORDERS, async (route) => {
		await route.fetch({ maxRedirects: 0 });
		arrive();
	});
	await kiosk.open();
	await kiosk.buy(freshNumber());
	await arrived;
	await page.goBack();
	await kiosk.expectStart();
	await kiosk.button(/^Show my purchase again/).tap();
	await kiosk.paid();
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
