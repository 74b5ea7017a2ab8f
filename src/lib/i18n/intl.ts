import { currentLocale } from './current.ts';
import { directionOf, type Locale } from './locales.ts';

/** Where English is written as people read it here: day before month, 24 hours. */
const TAGS: Partial<Record<Locale, string>> = { en: 'en-GB' };

/** For engines that do not know a language (WebViews carry few): one that writes numbers as it does. */
const KIN: Partial<Record<Locale, string>> = { rw: 'pt', lg: 'en-GB', sw: 'en-GB', am: 'en-GB' };

/** Digits are Latin everywhere, because people compare them with what their phone asks; the calendar is Gregorian. */
const exact = (tag: string) => `${tag}-u-ca-gregory-nu-latn`;

/** What `Intl` is asked with, so that it speaks the current language. */
export function intlLocales(): string[] {
	const locale = currentLocale();
	return [TAGS[locale] ?? locale, KIN[locale] ?? 'en-GB'].map(exact);
}

/**
 * Numbers of the current language: "1,000", "1 000" or "1.000". The blank that French puts between thousands differs
 * with the age of Intl's data; here it is always one that old phones have in their fonts.
 */
export const numberText = (value: number, options: Intl.NumberFormatOptions = {}): string =>
	new Intl.NumberFormat(intlLocales(), options).format(value).replaceAll('\u202f', '\u00a0');

/**
 * A number, a code or a name that keeps its order where the page runs from right to left: digits in groups would change
 * places there, and the + of a phone number its side. (Unicode Bidirectional Algorithm, left-to-right isolate; the one
 * that goes by the first letter finds none in a number.)
 */
export const apart = (text: string): string =>
	directionOf(currentLocale()) === 'rtl' ? `\u2066${text}\u2069` : text;
