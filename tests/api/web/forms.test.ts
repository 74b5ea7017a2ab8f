/** Forms of other sites: page forms refuse them; the API knows no forms at all. */
import { expect, it } from 'vitest';
import { recorded, useFixture } from '../../support/server/fixture.ts';

const urlEncoded = 'application/x-www-form-urlencoded';
const evil = 'https://evil.example';

const fixture = useFixture({ database: 'sqlite' });

/** Sends the form of a router's page. Too little is filled in to buy, so nothing depends on its fields. */
async function post(headers: Record<string, string>, body: BodyInit = 'phone=') {
	const { url } = fixture().server;
	const sent = { accept: 'text/html', ...headers };
	const response = await fetch(`${url}/r/3`, { method: 'POST', redirect: 'manual', headers: sent, body });
	const text = await response.text();
	if (response.status !== 400) expect(text).toContain('Nothing was changed or charged.');
	return response.status;
}

it('a page takes a form of 16 KiB and refuses a larger one, with or without a length', async () => {
	const { url } = fixture().server;
	const form = (bytes: number) => `phone=${'1'.repeat(bytes - 6)}`;
	const streamed = (text: string) => ({
		method: 'POST',
		headers: { origin: url, accept: 'text/html', 'content-type': urlEncoded },
		body: new Blob([text]).stream(),
		duplex: 'half'
	});
	for (const path of ['/r/3', '/resume', '/owner/sign-in', '/developer/sign-in', '/kiosk/3']) {
		const send = (bytes: number) => fetch(url + path, { ...streamed(form(bytes)), redirect: 'manual' });
		expect((await send(16 * 1024)).status, path).not.toBe(413);
		expect((await send(16 * 1024 + 1)).status, path).toBe(413);
	}
	expect(await post({ origin: url, 'content-type': urlEncoded }, form(500_000))).toBe(413);
});

it('a page answers a form with a page, whatever the browser or a proxy accepts', async () => {
	const { url } = fixture().server;
	for (const accept of ['*/*', 'image/gif, image/jpeg, */*', 'application/json']) {
		const headers = { origin: url, accept, 'content-type': urlEncoded };
		const sent = await fetch(`${url}/resume`, { method: 'POST', headers, body: 'code=AAAA-AAAA' });
		expect(sent.headers.get('content-type'), accept).toMatch(/^text\/html/);
		expect(await sent.text()).toContain('We can’t find this code.');
	}
});

it('refuses the name of an action that SvelteKit reserves', async () => {
	const { url } = fixture().server;
	const headers = { origin: url, accept: 'text/html', 'content-type': urlEncoded };
	for (const path of ['/r/3', '/resume', '/owner/sign-in']) {
		const sent = await fetch(`${url}${path}?/default`, { method: 'POST', headers, body: 'phone=' });
		await sent.arrayBuffer();
		expect(sent.status, path).toBe(400);
	}
});

it.each([
	['a foreign Origin', { origin: evil }],
	['no Origin and a foreign Referer', { referer: `${evil}/page` }],
	['neither Origin nor Referer', {}],
	['the Origin of a sandboxed frame', { origin: 'null' }],
	['another port of this host', { origin: 'http://127.0.0.1:1' }],
	['a browser that says cross-site', { origin: 'SELF', 'sec-fetch-site': 'cross-site' }],
	['a browser that says same-site', { origin: 'SELF', 'sec-fetch-site': 'same-site' }]
])('a page refuses a form with %s', async (_what, headers: Record<string, string>) => {
	const before = await recorded(fixture());
	const own = { ...headers, ...(headers['origin'] === 'SELF' ? { origin: fixture().server.url } : {}) };
	for (const type of [
		urlEncoded,
		'text/plain',
		`${urlEncoded}; charset=utf-8`,
		'Multipart/Form-Data; boundary=x'
	]) {
		expect(await post({ ...own, 'content-type': type })).toBe(403);
	}
	const data = new FormData();
	data.set('phone', '');
	expect(await post(own, data)).toBe(403);
	expect(await post(own, new Blob(['phone=']))).toBe(403);
	expect(await recorded(fixture())).toEqual(before);
});

it('a page takes its own form, by Origin or by Referer', async () => {
	const { url } = fixture().server;
	const headers = { 'content-type': urlEncoded };
	for (const proof of [
		{ origin: url },
		{ referer: `${url}/r/3` },
		{ origin: url, 'sec-fetch-site': 'same-origin' }
	]) {
		// 400: the fields are not filled in, which is past the check.
		expect(await post({ ...headers, ...proof })).toBe(400);
	}
});

it.each([
	['/r/3', 'The form arrived incomplete. You have not been charged.'],
	['/owner/sign-in', 'The form arrived incomplete. Nothing has changed.'],
	['/developer/sign-in', 'The form arrived incomplete. Nothing has changed.']
])('a cut-off form at %s is refused, and only a buyer reads about charges', async (path, text) => {
	const { url } = fixture().server;
	const headers = { origin: url, accept: 'text/html', 'content-type': 'multipart/form-data; boundary=x' };
	const response = await fetch(url + path, { method: 'POST', headers, body: '--x\r\ncut' });
	expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(text)]);
});

it('the API answers every form with 400 unsupported_media_type', async () => {
	const { api, nobody } = fixture();
	for (const headers of [{ origin: evil }, { origin: fixture().server.url }, {}]) {
		for (const type of [urlEncoded, 'multipart/form-data; boundary=x', 'text/plain']) {
			const request = { body: 'router_id=3', headers: { ...headers, 'content-type': type } };
			await api.refused('400 unsupported_media_type', 'POST', '/v1/sessions', request);
			await nobody.refused('401 missing_api_key', 'POST', '/v1/sessions', request);
		}
	}
});
