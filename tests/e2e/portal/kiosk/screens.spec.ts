/** Screens of the kiosk: they fit, are cleared, and change their language. */
import { expect, freshNumber, ROUTER, withoutFullScreen } from '../../support/test.ts';
import { TABLETS, test } from '../../support/kiosk.ts';
import { ownerSets } from '../../support/offers.ts';
import { isAll } from '../../../support/all.ts';
import { openSql } from '../../../support/database/sql.ts';

const PASSWORD = /[a-z2-9]{4}-[a-z2-9]{4}-[a-z2-9]{4}/;
/** A demo router with a sign-in page and a Wi-Fi password. */
const HOTSPOT_ROUTER = 17;

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
			`insert into brands (account_id, contact, updated_at, updated_by)
				select owner_account_id, '+256 772 123 456', 0, owner_account_id from routers where id = ?
				on conflict (account_id) do update set contact = excluded.contact`,
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

test('long touches, drags and pinches do nothing', async ({ kiosk }) => {
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
