import { describe, expect, it } from 'vitest';
import { extractLocaleFromRequestAsync } from '#lib/i18n/generated/runtime.js';
import { inLanguage, isEnglishOnly, splitLanguage } from '#lib/i18n/path.ts';
import { configureLocale } from '#lib/i18n/request-language.ts';

configureLocale();

const localeOf = (path: string, acceptLanguage: string) =>
	extractLocaleFromRequestAsync(
		new Request(`http://localhost${path}`, { headers: { 'accept-language': acceptLanguage } })
	);

describe('the language of a request', () => {
	it.each([
		['', 'en'],
		['fr', 'fr'],
		['fr-CA, en;q=0.8', 'fr'],
		['de, sw;q=0.4, pt-BR;q=0.7', 'pt'],
		['am;q=0, ar-EG;q=0.1', 'ar'],
		['xx, *;q=0.5', 'en'],
		['LG', 'lg'],
		[',;q=,;;', 'en']
	])('for Accept-Language "%s" is %s', async (header, locale) => {
		expect(await localeOf('/r/12', header)).toBe(locale);
	});

	it('is found at once in a long header of blanks', async () => {
		const before = performance.now();
		expect(await localeOf('/r/12', `fr;q=0.1,de${' '.repeat(100_000)}x,sw;q=0.2`)).toBe('sw');
		expect(performance.now() - before).toBeLessThan(5_000);
	});

	it('in the address takes precedence over the browser’s', async () => {
		expect(await localeOf('/sw/r/12', 'fr')).toBe('sw');
	});

	it.each(['/docs/limits', '/developer', '/fr/docs', '//v1/routers'])('is English for %s', async (path) => {
		expect(isEnglishOnly(path)).toBe(true);
		expect(await localeOf(path, 'fr')).toBe('en');
	});
});

describe('the language prefix of an address', () => {
	it.each([
		['/sw', '/'],
		['/sw/', '/'],
		['/ar/r/12', '/r/12'],
		['/r/12', '/r/12'],
		['/xx/r/12', '/xx/r/12'],
		['/swahili', '/swahili']
	])('of %s is split from the page %s', (pathname, path) => {
		expect(splitLanguage(pathname).path).toBe(path);
	});

	it('is replaced by another language', () => {
		expect(inLanguage('am', '/')).toBe('/am');
		expect(inLanguage('am', '/fr/s/abc')).toBe('/am/s/abc');
	});
});
