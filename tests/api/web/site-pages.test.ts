/** The foot of every page, the pages it leads to, and what other programs show of a page. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { registerGateway } from '../../support/gateways/gateways.ts';
import { browse } from '../../support/pages/browsing.ts';
import { pngOf } from '../../support/pages/logos.ts';
import { addRouter, newOwner, sendBrand } from '../../support/pages/owners.ts';
import { buyHourOn } from '../../support/pages/splash.ts';
import { eventually, useFixture } from '../../support/server/fixture.ts';

const texts = mkdtempSync(path.join(tmpdir(), 'airtill-texts-'));
writeFileSync(
	path.join(texts, 'terms.md'),
	'# House rules\n\nBe kind. [Map](/)\n\n<script>alert(1)</script>\n'
);
writeFileSync(path.join(texts, 'terms.sw.md'), '# Kanuni\n');
afterAll(() => rmSync(texts, { recursive: true }));

const footOf = (html: string) => /<footer>([^]*?)<\/footer>/.exec(html)?.[1] ?? '';
const linksIn = (html: string) => [...html.matchAll(/<a href="([^"]*)"/g)].map(([, href = '']) => href);
const metaOf = (html: string, name: string) =>
	new RegExp(`<meta[^>]* property="${name}" content="([^"]*)"`).exec(html)?.[1];

describe('every page', () => {
	const env = { CONTACT: '0800 100 200, help@airtill.example', TEXTS_DIR: texts };
	const fixture = useFixture({ database: 'sqlite', env });

	it('leads from its foot to help, terms, privacy, and the pages of owners and developers on this host', async () => {
		const person = browse(fixture().server.url);
		const purchase = await buyHourOn(person, await person.get('/r/3'));
		const { key } = await registerGateway(fixture().server, 'mikrotik-chap', { loginHost: '10.5.50.1' });
		const pages = ['/', '/r/3', '/resume', '/help', '/owner/sign-in', '/docs', '/developer/sign-in'];
		for (const page of [...pages, '/nothing-here', `/splash/${key}`, purchase, `${purchase}/receipt`]) {
			const links = linksIn(footOf((await person.get(page)).html));
			expect(links, page).toEqual(['/help', '/terms', '/privacy', '/owner', '/docs']);
		}
		const swahili = linksIn(footOf((await person.get('/sw/r/3')).html));
		expect(swahili).toEqual(['/sw/help', '/sw/terms', '/sw/privacy', '/sw/owner', '/sw/docs']);
		for (const link of swahili) expect((await person.get(link)).status).toBe(200);
	});

	it('is rendered once for all if it is the same for everybody', async () => {
		const { url } = fixture().server;
		const nonceOf = async (path: string, headers: Record<string, string> = {}) => {
			const page = await fetch(url + path, { headers: { 'accept-encoding': 'gzip', ...headers } });
			expect([path, page.status]).toEqual([path, 200]);
			const [nonce] = /nonce-[^']+/.exec(page.headers.get('content-security-policy') ?? '') ?? [];
			expect(await page.text()).toContain('</html>');
			return nonce;
		};
		for (const path of ['/help', '/sw/terms', '/owner/sign-in', '/developer/sign-up']) {
			const first = await nonceOf(path);
			expect(await nonceOf(path), path).toBe(first);
			// One rendering for all forms of the page.
			for (const coding of ['br', 'identity'])
				expect(await nonceOf(path, { 'accept-encoding': coding }), path).toBe(first);
			for (const other of [{ cookie: 'a=b' }, { 'x-forwarded-proto': 'https' }]) {
				expect(await nonceOf(path, other), path).not.toBe(first);
			}
			expect(await nonceOf(`${path}?x=1`), path).not.toBe(first);
		}
		expect(await nonceOf('/help', { 'accept-language': 'fr' })).not.toBe(await nonceOf('/help'));
		expect(await nonceOf('/r/3')).not.toBe(await nonceOf('/r/3'));
	});

	it('shows the contacts of the installation under help, to call and to write to', async () => {
		const { html } = await browse(fixture().server.url).get('/help');
		expect(html).toContain('<a href="tel:0800100200" dir="ltr">0800 100 200</a>');
		expect(html).toContain('<a href="mailto:help@airtill.example" dir="ltr">help@airtill.example</a>');
	});

	it('under privacy says for how long data is kept; its terms are the administrator’s, without HTML', async () => {
		const person = browse(fixture().server.url);
		const privacy = (await person.get('/privacy')).text;
		for (const time of ['no time limit', '3650 days', '400 days', '2 hours; after a purchase, 32 days']) {
			expect(privacy).toContain(time);
		}
		const terms = await person.get('/terms');
		expect(terms.html).toMatch(/<h1>.*House rules.*<\/h1>/);
		expect(terms.html).toContain('<a href="/">');
		expect(terms.html).not.toContain('alert(1)');
		expect((await person.get('/sw/terms')).text).toContain('Kanuni');
		expect((await person.get('/sw/privacy')).text).toContain('400');
		expect((await person.get('/imprint')).status).toBe(404);
	});

	it('of a router shows the number of its owner: before the purchase, at the gateway, after it and on the receipt', async () => {
		const owner = await newOwner(fixture());
		const router = await addRouter(fixture(), owner.accountId);
		const { url } = fixture().server;
		await sendBrand(owner, url, '/owner/brand', { contact: ' 0772  123 456 ' });
		expect((await fixture().api.getRouter(router)).brand).toEqual({
			...{ name: null, contact: '0772 123 456', accent: null, logo: null }
		});
		const person = browse(url);
		const { key } = await registerGateway(fixture().server, 'mikrotik-chap', {
			loginHost: '10.5.50.2',
			router
		});
		const page = await person.get(`/r/${router}`);
		const purchase = await buyHourOn(person, page);
		const receipt = await eventually('the receipt is there', async () => {
			const shown = await person.get(`${purchase}/receipt`);
			return shown.path.endsWith('/receipt') && shown;
		});
		for (const { html } of [page, await person.get(`/splash/${key}`), await person.get(purchase), receipt]) {
			expect(footOf(html)).toContain('Call the venue: <a href="tel:0772123456" dir="ltr">0772 123 456</a>');
			expect(html).not.toContain('class="owner"');
		}
		expect(footOf((await person.get('/r/3')).html)).not.toContain('tel:');
	});

	it('of the list and of a router shows its title, text and picture where its address is shared', async () => {
		const owner = await newOwner(fixture());
		const router = await addRouter(fixture(), owner.accountId, { name: 'Blue Crane' });
		const { url } = fixture().server;
		const card = async (path = `/r/${router}`) => {
			const { html } = await browse(url).get(path);
			return ['title', 'description', 'image'].map((name) => metaOf(html, `og:${name}`));
		};
		const [title, description, image] = await card();
		expect(title).toMatch(/^Blue Crane Wi‑Fi, UGX\s500 an hour – Airtill$/);
		expect(description).toMatch(/UGX\s500/);
		expect(image).toBe(`${url}/icon.png`);
		expect(await card('/')).toEqual([
			expect.stringContaining('Airtill'),
			expect.stringMatching(/./),
			`${url}/icon.png`
		]);
		await sendBrand(owner, url, '/owner/brand', { logo: { bytes: pngOf(60, 60) } });
		const [, , logo = ''] = await card();
		expect(logo).toMatch(new RegExp(`^${url}/logos/\\w{32}\\.png$`));
		expect((await fetch(logo)).headers.get('content-type')).toBe('image/png');
	});

	it('has a manifest, a theme colour and a touch icon, except the kiosk with its own manifest', async () => {
		const person = browse(fixture().server.url);
		const { html } = await person.get('/');
		expect(html).toContain('<meta name="theme-color" content="#0a6b4b"');
		const [, icon = ''] = /<link rel="apple-touch-icon" href="([^"]+)"/.exec(html) ?? [];
		expect(
			(await person.raw(new URL(icon, `${fixture().server.url}/`).pathname)).headers.get('content-type')
		).toBe('image/png');
		const [, manifest = ''] = /<link rel="manifest" href="([^"]+)"/.exec(html) ?? [];
		const answer = await person.raw(manifest);
		expect(answer.headers.get('content-type')).toBe('application/manifest+json');
		expect(await answer.json()).toMatchObject({ name: 'Airtill', start_url: '/' });
		const kiosk = (await person.get('/kiosk/3')).html;
		expect(kiosk.match(/<link rel="manifest"/g)).toHaveLength(1);
		expect(kiosk).toContain('/kiosk/3/manifest.webmanifest');
	});
});
