/** A purchase at the kiosk, from the first touch to the password. */
import { expect, freshNumber, ROUTER, withoutFullScreen } from '../../support/test.ts';
import { mmPerPixel, TABLETS, test } from '../../support/kiosk.ts';

const PASSWORD = /[a-z2-9]{4}-[a-z2-9]{4}-[a-z2-9]{4}/;

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
		await expect(page.getByText('Your time starts when you have paid.')).toBeVisible();
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

test('the paid screen shows the code, and who leaves it or an open payment by mistake gets back for ten seconds', async ({
	kiosk,
	page
}) => {
	await page.clock.install();
	await kiosk.open();
	await kiosk.buy(freshNumber());
	await kiosk.paid();
	const password = await page.locator('.password').innerText();
	const code = page.locator('.kiosk-pass').getByText(/^[0-9A-Z]{4}-[0-9A-Z]{4}$/);
	await expect(code).toBeVisible();
	const undo = kiosk.button(/^Show my purchase again/);
	await expect(kiosk.button('Done: clear this screen')).toHaveClass(/quiet/);
	await kiosk.button('Done: clear this screen').tap();
	await expect(kiosk.begin).toBeVisible();
	expect(await kiosk.remains()).not.toContain(password);
	// The second tap of two begins a purchase, and loses nothing.
	await kiosk.begin.tap();
	await undo.tap();
	await kiosk.paid();
	await expect(page.locator('.password')).toHaveText(password);
	await kiosk.button('Done: clear this screen').tap();
	await page.clock.runFor(10_500);
	await expect(undo).toBeHidden();

	await kiosk.buy(freshNumber('003'));
	await expect(kiosk.title).toHaveText('Check your phone.');
	await kiosk.button('Start over').tap();
	await undo.tap();
	await expect(kiosk.title).toHaveText('Check your phone.');
});

test('who orders again with the same number is asked first, and charged twice only if told so', async ({
	kiosk
}) => {
	const phone = freshNumber('003');
	await kiosk.open();
	await kiosk.buy(phone);
	await expect(kiosk.title).toHaveText('Check your phone.');
	await kiosk.button('Start over').tap();
	// The question is on the screen that asks whether all is right.
	await kiosk.choose(phone);
	await kiosk.button('Pay UGX 500').tap();
	await expect(
		kiosk.page.getByRole('alert').filter({ hasText: 'recent order for this number' })
	).toBeVisible();
	expect(await kiosk.askedTimes(phone)).toBe(1);
	await kiosk.button('Buy another: pay UGX 500').tap();
	await expect(kiosk.title).toHaveText('Check your phone.');
	expect(await kiosk.askedTimes(phone)).toBe(2);
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
