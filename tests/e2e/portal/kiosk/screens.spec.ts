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
			...(index % 2 === 0 && { max_devices: index + 2 })
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
			await expect(page.locator(step)).toBeVisible();
			for (const viewport of TABLETS) {
				await page.setViewportSize(viewport);
				await kiosk.expectToFit(`${step} at ${viewport.width}`);
			}
		};
		await withoutFullScreen(page);
		await page.goto(`${portal.url}/${locale}/kiosk/${HOTSPOT_ROUTER}`);
		await look('.kiosk-pad');
		await expect(page.locator('footer')).toContainText('+256 772 123 456');
		await page.locator('footer a').tap();
		await look('.kiosk-pad.letters');
		await page.locator('[data-leave]').tap();
		await kiosk.type(freshNumber());
		await page.locator('.pay .button').tap();
		// Username, password, the Wi-Fi's own password and instructions.
		await look('.pass .password');
		await expect(page.locator('.left')).toContainText(/20\sGB/);
		await expect(page.locator('.status .lead')).toContainText('2');
		const toPhone = page.locator('.pass ~ p a');
		const before = (await toPhone.textContent()) ?? '';
		await toPhone.tap();
		await expect(toPhone).not.toHaveText(before);
		await look('.pass .password');
	});
}

test('after the idle time everything is cleared, with a countdown that a touch stops', async ({
	kiosk,
	page
}) => {
	const phone = freshNumber();
	await page.clock.install();
	await kiosk.open(`/kiosk/${ROUTER}?idle=120`);
	await kiosk.type(phone);
	await expect(kiosk.button('I am still here')).toBeHidden();
	await page.clock.runFor(102_000);
	await expect(page.getByRole('timer')).toHaveText(/^This screen is cleared in 0:[01]\d\.$/);
	await kiosk.button('I am still here').tap();
	await expect(page.getByRole('timer')).toBeHidden();
	await page.clock.runFor(60_000);
	await expect(kiosk.number).not.toHaveValue('');
	await page.clock.runFor(61_000);
	await kiosk.expectStart();
	expect(await kiosk.remains()).not.toContain(phone.slice(4));
	expect(await kiosk.askedTimes(phone)).toBe(0);
});

test('nothing of a purchase is left when its screen is cleared, and neither back nor reload shows it again', async ({
	kiosk,
	page
}) => {
	const phone = freshNumber();
	await page.clock.install();
	await kiosk.open(`/kiosk/${ROUTER}?idle=30`);
	const bought = page.waitForRequest('**/s/*/kiosk');
	await kiosk.buy(phone);
	const token = new URL((await bought).url()).pathname.split('/')[2] ?? '';
	expect(token).toMatch(/^[\w-]{24}$/);
	await kiosk.paid();
	const password = await page.locator('.password').innerText();
	const forgotten = async (number: string) => {
		await kiosk.expectStart();
		const remains = await kiosk.remains();
		for (const secret of [number.slice(4), password, token]) expect(remains).not.toContain(secret);
	};
	await page.clock.runFor(61_000);
	await forgotten(phone);
	await page.goBack();
	await forgotten(phone);

	// From the form of a purchase back leads to the start, and so does loading an open one again.
	const other = freshNumber('003');
	await kiosk.type(other);
	await page.goBack();
	await forgotten(other);
	await kiosk.buy(other);
	await kiosk.asked();
	await page.reload();
	await forgotten(other);
	expect(new URL(page.url()).search).toBe('?idle=30');
});

test('the language changes with one touch and keeps what was entered; the next buyer finds the kiosk’s own', async ({
	kiosk,
	page
}) => {
	const phone = freshNumber();
	const html = page.locator('html');
	await kiosk.open(`/en/kiosk/${ROUTER}?idle=45`);
	await page.getByRole('radio', { name: /^30 minutes/ }).tap();
	await kiosk.type(phone);
	await page.getByRole('link', { name: 'Kiswahili' }).tap();
	await expect(html).toHaveAttribute('lang', 'sw');
	await expect(page.locator('#phone')).toHaveValue(`${phone.slice(0, 4)} ${phone.slice(4)}`);
	await expect(page.locator('.pay .button')).toHaveText(/UGX\s250/);
	await page.locator('.pay .button').tap();
	await expect(page.locator('.password')).toHaveText(PASSWORD);
	const password = await page.locator('.password').innerText();

	await page.locator('.languages summary').tap();
	await page.getByRole('link', { name: 'العربية' }).tap();
	await expect(html).toHaveAttribute('dir', 'rtl');
	await expect(page.locator('.password')).toHaveText(password);

	await page.locator('[data-leave]').tap();
	await expect(html).toHaveAttribute('lang', 'en');
	await kiosk.expectStart();
	expect(page.url()).toBe(`${kiosk.portal.url}/en/kiosk/${ROUTER}?idle=45`);
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
