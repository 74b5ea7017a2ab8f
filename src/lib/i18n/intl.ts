import { currentLocale } from './current.ts';
import { directionOf, type Locale } from './locales.ts';

/** English as it is written in East Africa: day before month, 24 hours. */
const TAGS: Partial<Record<Locale, string>> = { en: 'en-GB' };

/** For engines without data for a language (WebViews carry few): a language with the same number format. */
const KIN: Partial<Record<Locale, string>> = { rw: 'pt', lg: 'en-GB', sw: 'en-GB', am: 'en-GB' };

/** Latin digits, because buyers compare amounts with the prompt on their phone; Gregorian calendar. */
const exact = (tag: string) => `${tag}-u-ca-gregory-nu-latn`;

/** Returns the `locales` argument for `Intl` constructors. */
export function intlLocales(locale: Locale = currentLocale()): string[] {
	return [TAGS[locale] ?? locale, KIN[locale] ?? 'en-GB'].map(exact);
}

/** Formats a number: "1,000", "1 000" or "1.000". Replaces narrow no-break spaces, which fonts of old phones lack. */
export const numberText = (
	value: number,
	options: Intl.NumberFormatOptions = {},
	locale: Locale = currentLocale()
): string => new Intl.NumberFormat(intlLocales(locale), options).format(value).replaceAll('\u202f', '\u00a0');

/**
 * Keeps a number, a code or a name in order on a page that runs from right to left, where groups of digits and the + of
 * a phone number would change places (UAX 9, left-to-right isolate; a first-strong isolate finds no letter in a number).
 */
export const apart = (text: string): string =>
	directionOf(currentLocale()) === 'rtl' ? `\u2066${text}\u2069` : text;
