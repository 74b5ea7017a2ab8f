import { expect, freshNumber, ROUTER, test as base, withoutFullScreen } from '../support/test.ts';
import { Kiosk, mmPerPixel, TABLETS } from '../support/kiosk.ts';
import { ownerSets } from '../support/offers.ts';
import { isAll } from '../../support/all.ts';
import { openSql } from '../../support/database/sql.ts';

const test = base.extend<{ kiosk: Kiosk }>({
	hasTouch: true,
	viewport: TABLETS.at(-1) ?? null,
	kiosk: async ({ page, portal }, use) => {
		await use(new Kiosk(page, portal));
	}
});

const PASSWORD = /[a-z2-9]{4}-[a-z2-9]{4}-[a-z2-9]{4}/;
/** A demo router with a sign-in page and a Wi-Fi password. */
const HOTSPOT_ROUTER = 17;
/** A demo router that is closed. */
const OFFLINE_ROUTER = 15;

test(
	'a whole purchase is made by touch, on screens that fit and with targets of at least 48 px',
	{ tag: '@remote' },
	async ({ kiosk, page }) => {
		const phone = freshNumber();
		await withoutFullScreen(page);
		await kiosk.open();
		await expect(page.getByText('UGX 500 an hour')).toBeVisible();
		await kiosk.expectToFit();
		await kiosk.begin.tap();
		await expect(kiosk.title).toHaveText('How long?');
		await kiosk.expectToFit();
		await kiosk.button(/^1 hour/).tap();
		await kiosk.expectToFit();
		await kiosk.button('MTN MoMo').tap();
		await kiosk.type(`${phone}9`);
		await kiosk.button('Delete').tap();
		await expect(page.getByRole('textbox')).toHaveValue(phone);
		await kiosk.expectToFit();
		await kiosk.button('Next').tap();
		await kiosk.expectToFit();
		await kiosk.button('Pay UGX 500').tap();
		await kiosk.paid();

		const password = PASSWORD.exec(await page.locator('.password').innerText())?.[0] ?? '';
		for (const viewport of TABLETS) {
			await page.setViewportSize(viewport);
			await kiosk.expectToFit(`${viewport.width}`);
			// Half a metre away, a phone's camera of 1280 pixels sees two of them on a millimetre of the screen.
			const shrink = Math.ceil(1 / mmPerPixel(viewport) / 2);
			const wifi = await kiosk.scan(/connect to KISEMENTI-WIFI/, shrink);
			expect(wifi.text).toBe(`WIFI:T:WPA;S:KISEMENTI-WIFI;P:${password};;`);
			expect(wifi.modulePixels * mmPerPixel(viewport)).toBeGreaterThan(1.5);
		}
		await expect(page.getByRole('timer')).toHaveText(/^This screen is cleared in [12]:\d\d\.$/);

		await kiosk.button('Continue on my phone').tap();
		const onPhone = await kiosk.scan(/on a phone/);
		expect(onPhone.text).toMatch(new RegExp(`^${kiosk.portal.url}/s/[\\w-]{24}$`));
		const response = await page.request.get(onPhone.text ?? '');
		expect(await response.text()).toContain(password);
	}
);

for (const locale of isAll ? ['lg', 'ar'] : ['lg']) {
	test(`every step fits on every tablet in long words, with ten offers, a data limit and a contact (${locale})`, async ({
		kiosk,
		page,
		portal
	}) => {
		const offers = Array.from({ length: 10 }, (_, index) => ({
			...{ name: `Offer ${index} for the evening`, duration: `${index + 1}d`, price: 1000 + index * 900 },
			...(index % 2 === 0 && { max_devices: index + 1 })
		}));
		await ownerSets(portal, HOTSPOT_ROUTER, offers);
		const sql = await openSql(portal.service.databaseUrl);
		// No gateway is there to hold it.
		const limited = `replace(offers, '"active":true', '"active":true,"data_limit_mb":20000')`;
		await sql.run(`update routers set offers = ${limited} where id = ?`, HOTSPOT_ROUTER);
		await sql.run(
			`insert into brands (subject, account_id, router_id, contact, updated_at, updated_by)
				select 'router ' || id, owner_account_id, id, '+256 772 123 456', 0, owner_account_id from routers where id = ?
				on conflict do nothing`,
			HOTSPOT_ROUTER
		);
		await sql.close();
		// A portal of a remote service remembers a router for half a minute.
		await portal.advance(31_000);
		const look = async (step: string) => {
			await expect(page.locator(step)).toBeVisible({ timeout: 20_000 });
			for (const viewport of TABLETS) {
				await page.setViewportSize(viewport);
				await kiosk.expectToFit(`${step} at ${viewport.width}`);
			}
		};
		await withoutFullScreen(page);
		await page.goto(`${portal.url}/${locale}/kiosk/${HOTSPOT_ROUTER}`);
		await look('.kiosk-begin:enabled');
		await page.locator('.kiosk-begin').tap();
		await expect(page.locator('.kiosk-choice')).toHaveCount(10);
		await look('.kiosk-stacked');
		await page.locator('.kiosk-choice').nth(4).tap();
		await look('.kiosk-choice >> nth=1');
		await page.locator('.kiosk-choice').first().tap();
		for (const digit of freshNumber()) await kiosk.button(digit).tap();
		await look('#kiosk-number');
		await page.locator('.kiosk-say .button').tap();
		await look('.kiosk-pay');
		await page.locator('.kiosk-pay').tap();
		// Username, password, the Wi-Fi's own password and instructions.
		await look('.kiosk-pass .password');
		await expect(page.locator('.kiosk-say .status')).toContainText(/20\sGB/);
		await expect(page.locator('.kiosk-ends .button').first()).toBeInViewport({ ratio: 1 });
		await page.locator('.kiosk-ends .button').last().tap();
		await look('.kiosk-code');
		await expect(page.locator('.kiosk-code')).toContainText('+256 772 123 456');
	});
}

test('after the idle time everything is cleared, with a countdown that a touch stops', async ({
	kiosk,
	page
}) => {
	const phone = freshNumber();
	await page.clock.install();
	await kiosk.open(`/kiosk/${ROUTER}?idle=120`);
	await kiosk.begin.tap();
	await kiosk.button(/^1 hour/).tap();
	await kiosk.button('MTN MoMo').tap();
	await kiosk.type(phone);
	await expect(kiosk.button('I am still here')).toBeHidden();
	await page.clock.runFor(102_000);
	await expect(page.getByRole('timer')).toHaveText(/^This screen is cleared in 0:[01]\d\.$/);
	await kiosk.button('I am still here').tap();
	await expect(page.getByRole('timer')).toBeHidden();
	await page.clock.runFor(60_000);
	await expect(page.getByRole('textbox')).toHaveValue(phone);
	await page.clock.runFor(60_000);
	await expect(kiosk.begin).toBeVisible();
	expect(await kiosk.remains()).not.toContain(phone.slice(1));
	expect(await kiosk.askedTimes(phone)).toBe(0);
});

test('nothing of a purchase is left when its screen is cleared, and neither back nor reload shows it again', async ({
	kiosk,
	page
}) => {
	const phone = freshNumber();
	await page.clock.install();
	await kiosk.open(`/kiosk/${ROUTER}?idle=30`);
	const bought = page.waitForResponse('**/buy');
	await kiosk.buy(phone);
	const { token } = (await (await bought).json()) as { token: string };
	await kiosk.paid();
	const password = await page.locator('.password').innerText();
	expect(token).toMatch(/^[\w-]{24}$/);
	const forgotten = async () => {
		await expect(kiosk.begin).toBeVisible();
		const remains = await kiosk.remains();
		for (const secret of [phone.slice(1), password, token]) expect(remains).not.toContain(secret);
	};

	await page.clock.runFor(61_000);
	await forgotten();
	await page.goBack();
	await forgotten();

	// From the middle of a purchase back leads to the start, and so does loading it again.
	const other = freshNumber('003');
	await kiosk.begin.tap();
	await kiosk.button(/^1 hour/).tap();
	await page.goBack();
	await expect(kiosk.begin).toBeVisible();
	await kiosk.buy(other);
	await expect(kiosk.title).toHaveText('Check your phone.');
	await page.reload();
	await forgotten();
	expect(await kiosk.remains()).not.toContain(other.slice(1));
	expect(new URL(page.url()).search).toBe('?idle=30');
});

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

test('two touches on Pay are one payment', async ({ kiosk, page }) => {
	const phone = freshNumber('003');
	await kiosk.open();
	await kiosk.choose(phone);
	// Faster than any finger, and past the button that is gone after the first touch.
	await kiosk.button('Pay UGX 500').evaluate((button: HTMLButtonElement) => {
		button.click();
		button.click();
	});
	await expect(kiosk.title).toHaveText('Check your phone.');
	expect(await kiosk.askedTimes(phone)).toBe(1);
	await expect(page.getByRole('button', { name: /^Pay/ })).toBeHidden();
});

test('who declines is told that nothing was charged, and pays with the same number or another one', async ({
	kiosk,
	page
}) => {
	const phone = freshNumber('001');
	await kiosk.open();
	await kiosk.buy(phone);
	await expect(kiosk.title).toHaveText('Payment declined, or the PIN was wrong.');
	await expect(page.getByText('You have not been charged.')).toBeVisible();
	await kiosk.button('Try again: pay UGX 500').tap();
	await expect.poll(() => kiosk.askedTimes(phone)).toBe(2);
	await expect(kiosk.title).toHaveText('Payment declined, or the PIN was wrong.');
	await kiosk.button('Use another number').tap();
	await kiosk.type(freshNumber());
	await kiosk.button('Next').tap();
	await kiosk.button('Pay UGX 500').tap();
	await kiosk.paid();
});

test('a number that cannot pay comes back with the reason, and a keyboard that is plugged in can mend it', async ({
	kiosk,
	page
}) => {
	await kiosk.open();
	await kiosk.choose('0414123456');
	await kiosk.button('Pay UGX 500').tap();
	const field = page.getByRole('textbox', { name: 'Your mobile-money number' });
	await expect(page.getByRole('alert').filter({ hasText: 'not a mobile number' })).toBeVisible();
	await expect(field).toHaveValue('0414123456');
	await expect(field).toBeFocused();
	// The tablet's own keyboard stays away, and learns nothing.
	await expect(field).toHaveAttribute('inputmode', 'none');
	await expect(field).toHaveAttribute('autocomplete', 'off');
	await page.keyboard.press('Control+A');
	await page.keyboard.type(freshNumber());
	await page.keyboard.press('Enter');
	await page.keyboard.press('Tab');
	await page.keyboard.press('Enter');
	await kiosk.paid();
});

test('the language changes with one touch and keeps what was entered; the next buyer finds the kiosk’s own', async ({
	kiosk,
	page
}) => {
	const phone = freshNumber();
	await kiosk.open(`/en/kiosk/${ROUTER}?idle=45`);
	await kiosk.choose(phone);
	await kiosk.chooseLanguage('Kiswahili');
	await page.waitForURL(`**/sw/kiosk/${ROUTER}?idle=45&home=en`);
	await expect(page.locator('html')).toHaveAttribute('lang', 'sw');
	await expect(page.getByText(phone)).toBeVisible();
	await page.locator('.kiosk-pay').tap();
	await expect(page.locator('.password')).toHaveText(PASSWORD, { timeout: 20_000 });
	const password = await page.locator('.password').innerText();

	await kiosk.chooseLanguage('العربية');
	await page.waitForURL(`**/ar/kiosk/${ROUTER}?idle=45&home=en`);
	await expect(page.locator('html')).toHaveAttribute('dir', 'rtl');
	await expect(page.locator('.password')).toHaveText(password);
	expect(await kiosk.remains()).not.toContain(phone.slice(1));

	await page.locator('.kiosk-ends .button').first().tap();
	await page.waitForURL(`**/en/kiosk/${ROUTER}?idle=45`);
	await expect(kiosk.begin).toBeVisible();
	expect(await kiosk.remains()).not.toContain(password);
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

test('long touches, drags and pinches do nothing', async ({ kiosk, page }) => {
	await kiosk.open();
	const prevented = await kiosk.title.evaluate((element) =>
		['contextmenu', 'dragstart'].map((name) => {
			const event = new Event(name, { bubbles: true, cancelable: true });
			element.dispatchEvent(event);
			return event.defaultPrevented;
		})
	);
	expect(prevented).toEqual([true, true]);
	expect(await kiosk.title.evaluate((element) => getComputedStyle(element).userSelect)).toBe('none');
});

test('the kiosk can be put on a home screen, where it fills the display', async ({ kiosk, page, portal }) => {
	await kiosk.open(`/kiosk/${ROUTER}?idle=90`);
	const address = await page.locator('link[rel=manifest]').getAttribute('href');
	const response = await page.request.get(portal.url + (address ?? ''));
	expect(response.headers()['content-type']).toBe('application/manifest+json');
	expect(await response.json()).toMatchObject({
		display: 'fullscreen',
		start_url: `/kiosk/${ROUTER}?idle=90`
	});
	const first = await page.request.get(`${portal.url}/kiosk/${ROUTER}`);
	expect(first.headers()['cache-control']).toBe('no-store');
	// The idle time has bounds: what is shown fits a warning, and does not stand for hours.
	await page.goto(`${portal.url}/kiosk/${ROUTER}/setup?idle=1`);
	await expect(page.getByText(`/kiosk/${ROUTER}?idle=30`)).toBeVisible();
});

test.describe('without JavaScript', () => {
	test.use({ javaScriptEnabled: false });

	test('the kiosk says that it needs it, and leads to the page that does not', async ({ page, portal }) => {
		await page.goto(`${portal.url}/kiosk/${ROUTER}`);
		await expect(page.getByRole('heading', { level: 1 })).toHaveText('This kiosk needs JavaScript.');
		await expect(page.getByText(/test mode/i).first()).toBeVisible();
		await page.getByRole('link').click();
		await expect(page).toHaveURL(`${portal.url}/r/${ROUTER}`);
		await expect(page.getByRole('button', { name: /^Pay/ })).toBeVisible();
	});
});
