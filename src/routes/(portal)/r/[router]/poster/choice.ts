import { isLocale, type Locale } from '#lib/i18n/locales.ts';

/** Poster options in the address: `?size=a6&languages=sw,en`, or a form's `languages=sw&languages=en`. */

const MAX_LANGUAGES = 3;

export const sizeOf = (parameters: URLSearchParams): 'a4' | 'a6' =>
	parameters.get('size')?.toLowerCase() === 'a6' ? 'a6' : 'a4';

/** Reads the languages once each, in the requested order. Default: the reader's language and English. */
export function languagesOf(
	parameters: URLSearchParams,
	reader: Locale
): { languages: [Locale, ...Locale[]]; tooMany: boolean } {
	const asked = parameters
		.getAll('languages')
		.flatMap((list) => list.split(','))
		.map((language) => language.trim().toLowerCase())
		.filter(isLocale);
	const [first = reader, ...others] = [...new Set(asked.length > 0 ? asked : [reader, 'en' as const])];
	return {
		languages: [first, ...others.slice(0, MAX_LANGUAGES - 1)],
		tooMany: others.length >= MAX_LANGUAGES
	};
}

/** Chooses the size of a name by its length, so that it takes at most three lines. */
export function nameSize(name: string): 'large' | 'medium' | 'small' | 'tiny' {
	const { length } = [...name];
	if (length <= 18) return 'large';
	if (length <= 40) return 'medium';
	return length <= 80 ? 'small' : 'tiny';
}
