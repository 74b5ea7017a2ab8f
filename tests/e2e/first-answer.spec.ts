import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { LOCALES } from '../../src/lib/language/locales.ts';
import { expect, freshNumber, ROUTER, test } from './support/test.ts';

const BUDGET_BYTES = 14_336;

/** Bytes of an HTTP answer as they come over the wire to a browser, headers included; and the page, unpacked. */
async function bytesOnTheWire(url: string, language: string): Promise<{ bytes: number; text: string }> {
	const { hostname, port, pathname } = new URL(url);
	const socket = connect(Number(port), hostname);
	socket.write(
		`GET ${pathname} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: close\r\nAccept: text/html\r\nAccept-Encoding: gzip, deflate, br\r\nAccept-Language: ${language}\r\n\r\n`
	);
	const chunks: Buffer[] = [];
	for await (const chunk of socket) chunks.push(chunk as Buffer);
	const all = Buffer.concat(chunks);
	const bodyAt = all.indexOf('\r\n\r\n') + 4;
	const head = all.subarray(0, bodyAt).toString('latin1');
	expect(head).toMatch(/^content-encoding: gzip/im);
	return { bytes: all.length, text: head + gunzipSync(all.subarray(bodyAt)).toString('utf8') };
}

test('the first answer of a router page is small and holds all that reading and paying needs', async ({
	portal
}) => {
	for (const language of LOCALES) {
		const { bytes, text } = await bytesOnTheWire(`${portal.url}/r/${ROUTER}`, language);
		expect(text.slice(0, 13)).toBe('HTTP/1.1 200 ');
		expect(text).toContain(`<html lang="${language}"`);
		expect(bytes, language).toBeLessThanOrEqual(BUDGET_BYTES);
		expect(text.includes('Kisementi Corner')).toBe(true);
		// SvelteKit names the sheets that it has inlined, disabled: no browser loads those.
		expect(/<link(?![^>]*disabled)[^>]*rel="stylesheet"/.exec(text)).toBeNull();
	}
});

test('with everything but the first answer blocked, a router page can be read and paid', async ({
	page,
	portal,
	buyer
}) => {
	await page.route('**/*', (route) => {
		const isPage = route.request().isNavigationRequest();
		return isPage ? route.continue() : route.abort();
	});
	await buyer.buy(ROUTER, freshNumber());
	await expect(buyer.title).toHaveText(/Check your phone|You are paid/);
	expect(new URL(page.url()).origin).toBe(portal.url);
});

test('no page asks another host for anything, and none allows inline script', async ({
	page,
	portal,
	buyer
}) => {
	const hosts = new Set<string>();
	page.on('request', (request) => hosts.add(new URL(request.url()).host));
	await page.goto(portal.url);
	await expect(page.locator('.leaflet-container')).toBeVisible();
	await buyer.buy(ROUTER, freshNumber());
	await expect(buyer.title).toHaveText(/^You are paid until/, { timeout: 10_000 });
	expect([...hosts]).toEqual([new URL(portal.url).host]);

	for (const path of ['/', `/r/${ROUTER}`, new URL(page.url()).pathname]) {
		const { headers } = await fetch(portal.url + path);
		const policy = headers.get('content-security-policy') ?? '';
		expect(policy).toContain("default-src 'none'");
		expect(policy).not.toContain('unsafe-inline');
		expect(policy).not.toContain('unsafe-eval');
		expect(headers.get('cache-control')).toBe('no-store');
		expect(headers.get('x-content-type-options')).toBe('nosniff');
		expect(headers.get('set-cookie')).toBeNull();
	}
});

test('no answer to a browser holds an API key', async ({ page, buyer }) => {
	const texts: Promise<string>[] = [];
	page.on('response', (response) => texts.push(response.text().catch(() => '')));
	await buyer.buy(ROUTER, freshNumber());
	await expect(buyer.title).toHaveText(/^You are paid until/, { timeout: 10_000 });
	for (const text of await Promise.all(texts)) expect(text).not.toMatch(/atl_(live|test)_/);
});

test('every page carries the mark of the test mode', async ({ page, portal, buyer }) => {
	for (const path of ['/', `/r/${ROUTER}`, '/nothing-here']) {
		await page.goto(portal.url + path);
		await expect(page.getByText(/test mode/i).first()).toBeVisible();
	}
	await buyer.buy(ROUTER, freshNumber());
	await expect(page.getByText(/test mode/i).first()).toBeVisible();
});
