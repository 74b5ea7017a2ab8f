/**
 * The way of a buyer in three engines, with and without the page's script, by keyboard: what the other suites look
 * at in Chromium alone could mean something else elsewhere.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import jsQR from 'jsqr';
import { isAll } from '../../support/all.ts';
import {
	type Window,
	type WindowOptions,
	openChromium,
	openFirefox,
	openWebKit
} from '../../support/browsers/engines.ts';
import { findFirefox, findWebKit, MISSING } from '../../support/programs.js';
import { readPixels } from '../../support/browsers/pixels.ts';
import { expect, freshNumber, ROUTER, test } from '../support/test.ts';

const PHONE = { width: 360, height: 640 };
const limitMs = 30_000;
const lookAgainMs = 100;

const ENGINES: { name: string; missing: string | null; launch(options: WindowOptions): Promise<Window> }[] = [
	{ name: 'Chromium', missing: null, launch: openChromium },
	{ name: 'WebKitGTK', missing: findWebKit() ? null : MISSING.webkit, launch: openWebKit },
	{ name: 'Firefox', missing: findFirefox() ? null : MISSING.firefox, launch: openFirefox }
];

/** Reads again until the value fits: a page that is being left answers nothing, or what it was. */
async function until(window: Window, expression: string, wanted: RegExp): Promise<void> {
	const deadline = performance.now() + limitMs;
	for (;;) {
		const value = await window.read(expression).catch((error: unknown) => error);
		if (wanted.test(String(value))) return;
		if (performance.now() > deadline) expect(String(value)).toMatch(wanted);
		await sleep(lookAgainMs);
	}
}

const TITLE = "document.querySelector('h1').innerText";
const BUTTON = 'form[method=post] button.button';
/** Unfolds the QR code, scrolls to it, and says where it stands in the picture, in the picture's own pixels. */
const QR_PLACE = `(() => {
	const code = document.querySelector('.qr');
	code.closest('details').open = true;
	code.scrollIntoView({ block: 'center' });
	const { left, top, width, height } = code.getBoundingClientRect();
	return [left, top, width, height].map((length) => length * devicePixelRatio);
})()`;

/** Reads the screen as a phone's camera would. */
async function scanned(window: Window): Promise<string | undefined> {
	const place = (await window.read(QR_PLACE)) as number[];
	const [left = 0, top = 0, width = 0, height = 0] = place.map(Math.round);
	expect(width, 'width of the QR code').toBeGreaterThan(120);
	const { data } = await readPixels(await window.picture(), { crop: { left, top, width, height } });
	return jsQR(data, width, height)?.data;
}

for (const { name, missing, launch } of ENGINES) {
	// portal/offers.spec.ts buys without script in Chromium.
	for (const script of isAll ? [true, false] : [true]) {
		test(`${name} buys ${script ? 'with' : 'without'} script, and reload and back lose nothing`, async ({
			portal
		}) => {
			test.skip(missing !== null, missing ?? '');
			const window = await launch({ ...PHONE, script });
			try {
				await window.open(`${portal.url}/r/${ROUTER}`);
				const live = await window.read("document.documentElement.classList.contains('js')");
				expect(live, 'whether the page’s script runs').toBe(script);
				await until(window, 'document.body.innerText', /UGX\s500/);
				const room = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
				expect(await window.read(room), 'pixels to scroll sideways').toBeLessThanOrEqual(0);

				await window.press('[name=time][value^="2h"], [name=time][value^="3h"]', 'Space');
				const chosen = String(await window.read("document.querySelector('[name=time]:checked').value"));
				expect(chosen).toMatch(/^[23]h/);
				await window.type('#phone', freshNumber());
				await window.press(BUTTON, 'Enter');

				await until(window, 'location.pathname', /^\/s\/[\w-]{24}$/);
				const address = await window.url();
				await until(window, TITLE, /^(Check your phone|Your Wi‑Fi is paid until)/);
				await until(window, TITLE, /^Your Wi‑Fi is paid until/);
				const password = String(await window.read("document.querySelector('.password').innerText"));
				expect(password).toMatch(/^[a-z2-9]{4}-[a-z2-9]{4}-[a-z2-9]{4}$/);
				// A picture may be taken while the engine still draws.
				await expect
					.poll(() => scanned(window), { timeout: limitMs })
					.toBe(`WIFI:T:WPA;S:KISEMENTI-WIFI;P:${password};;`);

				await window.reload();
				await until(window, "document.querySelector('.password').innerText", new RegExp(`^${password}$`));
				// Back at the form, the same button leads to the same purchase: nobody pays twice by it.
				await window.open(`${portal.url}/r/${ROUTER}`);
				await window.open(address);
				await window.back();
				await until(window, 'location.pathname', /^\/r\/\d+$/);
				await window.open(address);
				await until(window, "document.querySelector('.password').innerText", new RegExp(`^${password}$`));
			} finally {
				await window.close();
			}
		});
	}
}
