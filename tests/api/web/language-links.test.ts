/** Links to the same page in another language. */
import { describe, expect, it } from 'vitest';
import { LOCALES } from '../../../src/lib/i18n/locales.ts';
import { browse, type Page } from '../../support/pages/browsing.ts';
import { registerGateway } from '../../support/gateways/gateways.ts';
import { buyHourOn } from '../../support/pages/splash.ts';
import { useFixture } from '../../support/server/fixture.ts';

const linksOf = ({ html }: Page): string[] =>
	[...html.matchAll(/<a href="([^"]*)" lang="\w\w"/g)].map(([, href = '']) => href);
const inEach = (path: string) => LOCALES.map((locale) => `/${locale}${path}`);

describe('language links', () => {
	const fixture = useFixture({ database: 'sqlite' });

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
