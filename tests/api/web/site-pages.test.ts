/** What every page has: its foot, its languages, its headers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { registerGateway } from '../../support/gateways/gateways.ts';
import { browse, type Page } from '../../support/pages/browsing.ts';
import { pngOf } from '../../support/pages/logos.ts';
import { addRouter, newOwner, sendBrand } from '../../support/pages/owners.ts';
import { buyHourOn } from '../../support/pages/splash.ts';
import { eventually, useFixture } from '../../support/server/fixture.ts';
import { LOCALES } from '#lib/i18n/locales.ts';
import { createHash } from 'node:crypto';
import { ndsEntry, newDevice } from '../../support/gateways/opennds.ts';

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

const fixture = useFixture({ database: 'sqlite' });

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
		await sendBrand(owner, url, '/owner/settings?/brand', { contact: ' 0772  123 456 ' });
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
		await sendBrand(owner, url, '/owner/settings?/brand', { logo: { bytes: pngOf(60, 60) } });
		const [, , logo = ''] = await card();
		expect(logo).toMatch(new RegExp(`^${url}/logos/\\w{32}\\.png$`));
		expect((await fetch(logo)).headers.get('content-type')).toBe('image/png');
	});
});

const linksOf = ({ html }: Page): string[] =>
	[...html.matchAll(/<a href="([^"]*)" lang="\w\w"/g)].map(([, href = '']) => href);
const inEach = (path: string) => LOCALES.map((locale) => `/${locale}${path}`);

describe('language links', () => {
	it('open the same page: purchase, receipt, captive session, poster, kiosk set-up', async () => {
		const { server } = fixture();
		const { key } = await registerGateway(server, 'mikrotik-chap', { loginHost: '10.5.50.1' });
		const person = browse(server.url);
		const entry = new URLSearchParams({
			mac: '02:00:00:00:00:01',
			'link-login-only': 'http://10.5.50.1/login',
			'chap-id': '\\371',
			'chap-challenge': '\\357\\015'
		});
		const page = await person.get(`/splash/${key}?${entry.toString()}`);
		const [visit = ''] = linksOf(page);
		expect(visit).toMatch(new RegExp(`^/en/splash/${key}/[\\w-]{24}$`));
		const purchase = await buyHourOn(person, page);
		const pages = ['/r/3', '/r/3/poster', '/kiosk/3/setup', '/resume', purchase, `${purchase}/receipt`];
		for (const path of pages) {
			expect(linksOf(await person.get(path)), path).toEqual(inEach(path));
		}
		for (const path of inEach(purchase)) {
			const translated = await person.get(path);
			expect([path, translated.status]).toEqual([path, 200]);
			expect(translated.html).toContain(`<html lang="${path.slice(1, 3)}"`);
		}
	});

	it('keep the query, but repeat no long address', async () => {
		const person = browse(fixture().server.url);
		expect(linksOf(await person.get('/?q=Kisementi'))).toEqual(inEach('?q=Kisementi'));
		const long = 'a'.repeat(7_000);
		for (const [path, rest] of [
			[`/splash/x?fas=${long}`, '/splash/x'],
			[`/r/3?x=${long}`, '/r/3'],
			[`/help?x=${long}`, '/help'],
			[`/${long}`, '']
		] as const) {
			const page = await person.get(path);
			expect(linksOf(page)).toEqual(inEach(rest));
			expect(page.html).not.toContain(long);
		}
	});
});

/** Headers of pages: few bytes, because they are not compressed, and a policy that allows the page's inline code only. */
describe('headers', () => {
	/** Share of the headers in the 14 KB of the first response. */
	const HEADER_BYTES = 900;

	const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

	describe('a page', () => {
		it.each([
			['for buyers', '/r/3'],
			['of an error', '/nothing-here'],
			['of the documentation', '/docs/limits']
		])('%s allows its own inline scripts and styles, and no others', async (_what, path) => {
			const { html, headers } = await browse(fixture().server.url).get(path);
			const policy = headers.get('content-security-policy') ?? '';
			const sources = new Map(
				policy.split('; ').map((directive) => {
					const [name = '', ...list] = directive.split(' ');
					return [name, list];
				})
			);
			expect(sources.get('default-src')).toEqual(["'none'"]);
			expect(policy).not.toContain('unsafe');
			expect(sources.has('style-src-attr')).toBe(false);
			expect(html).not.toMatch(/<[^>]* style=/);

			const inline = [...html.matchAll(/<script(?![^>]* src=)[^>]*>([^]*?)<\/script>/g)];
			expect(inline.length).toBeGreaterThan(0);
			expect(sources.get('script-src')).toEqual(["'self'", ...inline.map(([, text = '']) => hashOf(text))]);
			for (const [, nonce] of html.matchAll(/<style nonce="([^"]+)">/g)) {
				expect(sources.get('style-src')).toEqual(["'self'", `'nonce-${nonce}'`]);
			}
		});

		it('is not stored by caches, but for going back to an order by the browser itself, and its headers are small', async () => {
			const person = browse(fixture().server.url);
			for (const path of ['/', '/resume']) {
				expect((await person.get(path)).headers.get('cache-control'), path).toBe('no-store');
			}
			const { headers } = await person.get('/r/3');
			expect(headers.get('cache-control')).toBe('private, no-cache');
			const bytes = [...headers].reduce((sum, [name, value]) => sum + `${name}: ${value}\r\n`.length, 0);
			expect(bytes).toBeLessThanOrEqual(HEADER_BYTES);
		});
	});
});

/** Addresses that people type or paste, and those that browsers and researchers ask for by themselves. */
describe('addresses', () => {
	const visit = () => browse(fixture().server.url);

	it.each([
		['/R/3', '/r/3'],
		['/r/3%C2%A0', '/r/3'],
		['/r/3.', '/r/3'],
		['/Sw/R/3', '/sw/r/3'],
		['/R/3/Poster?x=y', '/r/3/poster?x=y'],
		['/Resume)', '/resume'],
		['/s/Aa_-1234567890abcdefgh.', '/s/Aa_-1234567890abcdefgh']
	])('%s leads to %s', async (typed, meant) => {
		const response = await visit().raw(typed);
		expect([response.status, response.headers.get('location')]).toEqual([308, meant]);
	});

	it.each(['/r/3', '/splash/Abc', '/R2D2', '/s/Aa_-1234567890abcdefgh', '/v1/Routers'])(
		'%s is not led elsewhere',
		async (path) => {
			expect((await visit().raw(path)).status).not.toBe(308);
		}
	);

	it('tells researchers whom to write to, and browsers the icon of the site', async () => {
		const security = await visit().raw('/.well-known/security.txt');
		expect([security.status, security.headers.get('content-type')]).toEqual([
			200,
			'text/plain; charset=utf-8'
		]);
		const text = await security.text();
		expect(text).toContain(`Contact: ${fixture().server.url}/help\n`);
		const expires = Date.parse(/^Expires: (.*)$/m.exec(text)?.[1] ?? '');
		expect(expires).toBeGreaterThan(fixture().server.now());
		const icon = await fetch(`${fixture().server.url}/favicon.ico`);
		expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/png']);
	});

	it('forbids browsers to guess the type of every file', async () => {
		const { html } = await visit().get('/r/3');
		const built = /\/_app\/immutable\/[^"]+/.exec(html)?.[0] ?? '';
		expect(built).not.toBe('');
		const paths = [
			'/favicon.svg',
			'/favicon.ico',
			'/robots.txt',
			'/manifest.webmanifest',
			built,
			'/none',
			'/v1/routers'
		];
		for (const path of [...paths, '/healthz', '/openapi.json']) {
			const { headers } = await visit().raw(path);
			expect([path, headers.get('x-content-type-options')]).toEqual([path, 'nosniff']);
		}
	});
});

/** Every page on the way to Pay says when the time starts, so that nobody buys it for later or for another place. */
describe('when the time starts', () => {
	const LOGIN_HOST = '192.168.8.1';

	it.each(['router', 'splash'])('the %s page, between the choices of time and Pay', async (which) => {
		const { server } = fixture();
		const entry = async () =>
			ndsEntry(await registerGateway(server, 'opennds', { loginHost: LOGIN_HOST }), newDevice(), LOGIN_HOST);
		const { html } = await browse(server.url).get(which === 'router' ? '/r/3' : await entry());
		const places = ['name="time"', 'Your time starts when you have paid.', '<button'].map((part) =>
			html.indexOf(part, html.indexOf('<form method="post"'))
		);
		expect(places).not.toContain(-1);
		expect(places).toEqual(places.toSorted((one, other) => one - other));
	});

	it.each(['/', '/?lat=0.3377&lon=32.5878'])('the list at %s, above the places', async (path) => {
		const { text } = await browse(fixture().server.url).get(path);
		const [before = ''] = text.split('UGX');
		expect(before).toContain('Buy when you are there: your time starts when you have paid.');
	});
});
