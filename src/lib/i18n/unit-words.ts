import type { Locale } from './locales.ts';

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
