import { currentLocale } from './current.ts';
import { type Locale, directionOf } from './locales.ts';

/** Embeddings, overrides and isolates, which reorder what follows. */
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/;

/** English as in East Africa: day before month, 24-hour clock. Portuguese as in Angola and Mozambique. */
const TAGS: Partial<Record<Locale, string>> = { en: 'en-GB', pt: 'pt-AO' };

/** Languages with the same number format, for engines without the data (WebViews have few). */
const KIN: Partial<Record<Locale, string>> = { rw: 'fr', pt: 'pt', lg: 'en-GB', sw: 'en-GB', am: 'en-GB' };

/** Latin digits, because buyers compare amounts with the prompt on their phone; Gregorian calendar. */
const exact = (tag: string) => `${tag}-u-ca-gregory-nu-latn`;

export const intlLocales = (locale: Locale = currentLocale()): string[] =>
	[TAGS[locale] ?? locale, KIN[locale] ?? 'en-GB'].map(exact);

/** Keeps each formatter: creating one is a hundred times slower than using it. */
function kept<Options extends object, Format>(Kind: new (locales: string[], options: Options) => Format) {
	const formats = new Map<string, Format>();
	return (options: Options, locale: Locale = currentLocale()): Format => {
		const key = locale + JSON.stringify(options);
		const format = formats.get(key) ?? new Kind(intlLocales(locale), options);
		formats.set(key, format);
		return format;
	};
}

const numberFormat = kept<Intl.NumberFormatOptions, Intl.NumberFormat>(Intl.NumberFormat);
export const dateFormat = kept<Intl.DateTimeFormatOptions, Intl.DateTimeFormat>(Intl.DateTimeFormat);

/** Of numbers. A space is a no-break space, which old phones' fonts have; they lack the narrow one. */
export interface Separators {
	group: ',' | '\u00a0';
	decimal: '.' | ',';
}

const ENGLISH: Separators = { group: ',', decimal: '.' };
const FRENCH: Separators = { group: '\u00a0', decimal: ',' };

/**
 * The same in every browser, so that amounts are read as they are shown. No language groups with a point: an owner may
 * copy an amount into a field or file where a point begins the decimals.
 */
export const separatorsOf = (locale: Locale = currentLocale()): Separators =>
	locale === 'fr' || locale === 'pt' || locale === 'rw' ? FRENCH : ENGLISH;

/** Formats a number: "1,000" or "1 000". */
export const numberText = (
	value: number,
	options: Intl.NumberFormatOptions = {},
	locale: Locale = currentLocale()
): string =>
	numberFormat(options, locale)
		.formatToParts(value)
		.map(({ type, value: text }) =>
			type === 'group' || type === 'decimal' ? separatorsOf(locale)[type] : text.replace('\u202f', '\u00a0')
		)
		.join('');

/**
 * Isolates a number, code or name on a right-to-left page, which would reorder digit groups and a leading +.
 * A network's name that reorders text would reorder the sentence around it, in every language.
 * UAX 9: a first-strong isolate finds no letter in a number, so this one is left-to-right.
 */
export const apart = (text: string): string =>
	directionOf(currentLocale()) === 'rtl' || REORDERING.test(text) ? `\u2066${text}\u2069` : text;

export type TimeUnit = 'minute' | 'hour' | 'day' | 'week';

type Words = Record<TimeUnit, Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>;

/**
 * Units that Intl (CLDR 48) lacks or gets wrong: Kinyarwanda, Luganda, one day in Amharic. Not in the
 * catalogues, because the command line runs without them. Unreviewed by native readers
 * (unreviewed.schema.json).
 */
const WORDS: Partial<Record<Locale, Words>> = {
	rw: {
		minute: { one: 'umunota {n}', other: 'iminota {n}' },
		hour: { one: 'isaha {n}', other: 'amasaha {n}' },
		day: { one: 'umunsi {n}', other: 'iminsi {n}' },
		week: { one: 'icyumweru {n}', other: 'ibyumweru {n}' }
	},
	lg: {
		minute: { one: 'eddakiika {n}', other: 'eddakiika {n}' },
		hour: { one: 'essaawa {n}', other: 'essaawa {n}' },
		day: { one: 'olunaku {n}', other: 'ennaku {n}' },
		week: { one: 'wiiki {n}', other: 'wiiki {n}' }
	},
	am: {
		minute: { one: '{n} ደቂቃ', other: '{n} ደቂቃ' },
		hour: { one: '{n} ሰዓት', other: '{n} ሰዓት' },
		day: { one: '{n} ቀን', other: '{n} ቀን' },
		week: { one: '{n} ሳምንት', other: '{n} ሳምንት' }
	}
};

/** Formats a count of units: "amasaha 2". Returns null for languages that Intl supports. */
export function unitWords(locale: Locale, count: number, unit: TimeUnit): string | null {
	const words = WORDS[locale]?.[unit];
	if (!words) return null;
	// Intl has no plural rules for Kinyarwanda; English has the same categories.
	const category = new Intl.PluralRules([locale, 'en']).select(count);
	return (words[category] ?? words.other).replace('{n}', String(count));
}

const JOINED: Partial<Record<Locale, string>> = {
	sw: '{larger} na {smaller}',
	pt: '{larger} e {smaller}',
	ar: '{larger} و{smaller}',
	rw: '{larger}, {smaller}',
	lg: '{larger}, {smaller}',
	am: '{larger} ከ{smaller}'
};

/** Returns how a language joins two units: "{larger} {smaller}", as in "1 day 1 hour". */
export const joinedUnits = (locale: Locale): string => JOINED[locale] ?? '{larger} {smaller}';
