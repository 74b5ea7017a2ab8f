import { describe, expect, it } from 'vitest';
import { inLanguage, splitLanguage } from '../../src/lib/i18n/path.ts';
import { bestLanguage, languageOf } from '../../src/lib/server/web/language.ts';

describe('the language of a request', () => {
	it.each([
		['', 'en'],
		['fr', 'fr'],
		['fr-CA, en;q=0.8', 'fr'],
		['de, sw;q=0.4, pt-BR;q=0.7', 'pt'],
		['am;q=0, ar-EG;q=0.1', 'ar'],
		['xx, *;q=0.5', 'en'],
		['LG', 'lg'],
		['rw;q=nonsense, fr;q=0.2', 'fr'],
		[',;q=,;;', 'en']
	])('of Accept-Language "%s" is %s', (header, locale) => {
		expect(bestLanguage(header)).toBe(locale);
	});

	it('is known at once, however long a stranger’s header of blanks is', () => {
		const before = performance.now();
		expect(bestLanguage(`fr;q=0.1,de${' '.repeat(100_000)}x,sw ; q=0.2`)).toBe('sw');
		expect(performance.now() - before).toBeLessThan(2_000);
	});

	it('that the address names counts more than the browser’s', () => {
		expect(languageOf('/sw/r/12', 'fr')).toEqual({ locale: 'sw', prefix: '/sw' });
		expect(languageOf('/r/12', 'fr')).toEqual({ locale: 'fr', prefix: '' });
	});

	it('is English for what developers read', () => {
		expect(languageOf('/docs/errors', 'fr')).toEqual({ locale: 'en', prefix: '' });
		expect(languageOf('/developer', 'fr')).toEqual({ locale: 'en', prefix: '' });
		// `{base_url}/` joined with `/routers`: the API answers in English there, too.
		expect(languageOf('//v1/routers', 'fr')).toEqual({ locale: 'en', prefix: '' });
	});
});

describe('a language in an address', () => {
	it.each([
		['/sw', '/'],
		['/sw/', '/'],
		['/ar/r/12', '/r/12'],
		['/r/12', '/r/12'],
		['/xx/r/12', '/xx/r/12'],
		['/swahili', '/swahili'],
		['/fr/v1/routers', '/fr/v1/routers'],
		['/fr/docs', '/fr/docs']
	])('%s is the page %s', (pathname, path) => {
		expect(splitLanguage(pathname).path).toBe(path);
	});

	it('is replaced by the one that is chosen', () => {
		expect(inLanguage('am', '/')).toBe('/am');
		expect(inLanguage('am', '/fr/s/abc')).toBe('/am/s/abc');
	});
});
