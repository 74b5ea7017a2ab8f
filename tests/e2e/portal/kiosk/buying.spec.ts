/** A purchase at the kiosk, from the first touch to the password. */
import { expect, freshNumber, ROUTER, withoutFullScreen } from '../../support/test.ts';
import { mmPerPixel, TABLETS, test } from '../../support/kiosk.ts';

const PASSWORD = /[a-z2-9]{4}-[a-z2-9]{4}-[a-z2-9]{4}/;

test(
	'twelve touches buy, on screens that fit and with targets of at least 48 px',
	{ tag: '@remote' },
	async ({ kiosk, page }) => {
		const phone = freshNumber();
		const complaints: string[] = [];
		page.on('console', (message) => {
			if (message.type() === 'error') complaints.push(message.text());
		});
		await withoutFullScreen(page);
		await kiosk.open();
		await kiosk.expectToFit();
		await page.evaluate(() => {
			document.addEventListener('touchstart', () => (window.name += 'x'));
		});
		await page.getByRole('radio', { name: /^30 minutes/ }).tap();
		await kiosk.type(phone);
		await expect(kiosk.number).toHaveValue(`${phone.slice(0, 4)} ${phone.slice(4)}`);
		// No step asks for the operator: the number tells it.
		await expect(page.getByRole('radio', { name: 'MTN MoMo' })).toBeChecked();
		await expect(page.getByText('Approve with your MTN MoMo PIN on your phone.')).toBeVisible();
		await kiosk.expectToFit();
		await kiosk.button('Pay UGX 250').tap();
		await kiosk.paid();
		expect(await page.evaluate(() => window.name.length)).toBe(12);

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

		await page.getByRole('link', { name: 'Continue on my phone' }).tap();
		const onPhone = await kiosk.scan(/on a phone/);
		expect(onPhone.text).toMatch(new RegExp(`^${kiosk.portal.url}/s/[\\w-]{24}$`));
		const response = await page.request.get(onPhone.text ?? '');
		expect(await response.text()).toContain(password);
		expect(complaints).toEqual([]);
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
	await expect(page.locator('.pass').getByText(/^[0-9A-Z]{4}-[0-9A-Z]{4}$/)).toBeVisible();
	const undo = kiosk.button(/^Show my purchase again/);
	const done = kiosk.button('Done: clear this screen');
	await expect(done).toHaveClass(/quiet/);
	for (const leave of [() => done.tap(), () => page.goBack()]) {
		await leave();
		await kiosk.expectStart();
		expect(await kiosk.remains()).not.toContain(password);
		// The second tap of two begins a purchase, and loses nothing.
		await kiosk.button('1').tap();
		await undo.tap();
		await kiosk.paid();
		await expect(page.locator('.password')).toHaveText(password);
	}
	await page.goBack();
	await expect(undo).toBeVisible();
	await page.clock.runFor(10_500);
	await expect(undo).toBeHidden();
	expect(await kiosk.remains()).not.toContain(password);

	await kiosk.buy(freshNumber('003'));
	await kiosk.asked();
	await page.clock.runFor(31_000);
	await kiosk.button('Start over').tap();
	await kiosk.expectStart();
	await expect(page.getByText(/^The screen was cleared during a payment\./)).toBeVisible();
	await undo.tap();
	await kiosk.asked();
	await page.clock.runFor(31_000);
	await page.getByRole('link', { name: 'Buy again with another number' }).tap();
	// The first key replaces the wrong number.
	await kiosk.type(freshNumber());
	await kiosk.button('Try again: pay UGX 500').tap();
	await kiosk.paid();
});

test('who declines is told that nothing was charged, and pays with the same number or another one', async ({
	kiosk,
	page
}) => {
	const phone = freshNumber('001');
	const declined = 'Payment declined, or the PIN was wrong.';
	await kiosk.open();
	await kiosk.buy(phone);
	await expect(kiosk.title).toHaveText(declined);
	await expect(page.locator('main')).toContainText('You have not been charged.');
	const again = kiosk.button('Try again: pay UGX 500');
	const form = page.locator('main form:not([data-old])');
	await form.evaluate((element: HTMLElement) => (element.dataset['old'] = ''));
	await again.tap();
	// Only the screen of the second refusal has a form again.
	await expect(form).toBeVisible();
	await expect(kiosk.title).toHaveText(declined);
	expect(await kiosk.askedTimes(phone)).toBe(2);
	// The first key replaces the number.
	await kiosk.type(freshNumber());
	await again.tap();
	await kiosk.paid();
});

test('a number that cannot pay comes back with the reason, and a keyboard that is plugged in can mend it', async ({
	kiosk,
	page
}) => {
	await kiosk.open();
	await kiosk.type('04141234567');
	await kiosk.button('Delete').tap();
	await kiosk.pay.tap();
	await expect(page.getByText(/^This is not a mobile number/).last()).toBeVisible();
	await expect(kiosk.number).toHaveValue(/^0414\s?123\s?456$/);
	await expect(kiosk.number).toBeFocused();
	// The tablet's own keyboard stays away, and learns nothing.
	await expect(kiosk.number).toHaveAttribute('inputmode', 'none');
	await expect(kiosk.number).toHaveAttribute('autocomplete', 'off');
	await page.keyboard.type(freshNumber());
	await page.keyboard.press('Enter');
	await kiosk.paid();
});

test('two touches on Pay are one payment', async ({ kiosk }) => {
	const phone = freshNumber('003');
	await kiosk.open();
	await kiosk.type(phone);
	// Faster than any finger.
	await kiosk.pay.evaluate((button: HTMLButtonElement) => {
		button.click();
		button.click();
	});
	await kiosk.asked();
	expect(await kiosk.askedTimes(phone)).toBe(1);
});

test.describe('without JavaScript', () => {
	test.use({ javaScriptEnabled: false });

	test('the kiosk says that it needs it, and leads to the page that does not', async ({ page, portal }) => {
		await page.goto(`${portal.url}/kiosk/${ROUTER}`);
		await expect(page.getByRole('heading', { level: 1 })).toHaveText('This kiosk needs JavaScript.');
		await page.getByRole('link').click();
		await expect(page).toHaveURL(`${portal.url}/r/${ROUTER}`);
		await expect(page.getByRole('button', { name: /^Pay/ })).toBeVisible();
	});
});
