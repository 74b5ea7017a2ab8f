import { afterEach, describe, expect, it } from 'vitest';
import { formatDuration } from '#lib/domain/time.ts';
import { formatDistance } from '#lib/domain/geo.ts';
import { apart } from '#lib/i18n/intl.ts';
import { setLocaleSource } from '#lib/i18n/current.ts';
import { LOCALES, type Locale } from '#lib/i18n/locales.ts';
import { formatMoney } from '#lib/domain/money.ts';
import { makePhoneHint, hideMiddle } from '#lib/domain/phone.ts';
import { clockText, momentText } from '#lib/format/words.ts';

function inLocale<T>(locale: Locale, work: () => T): T {
	setLocaleSource({ locale: () => locale, pathname: () => '/' });
	return work();
}

afterEach(() => setLocaleSource({ locale: () => 'en', pathname: () => '/' }));

const ZONE = 'Africa/Kampala';
const NOW = new Date('2026-11-21T12:40:00Z');
const IN_TWO_DAYS = new Date('2026-11-23T13:40:00Z');

describe.each(LOCALES)('in %s', (locale) => {
	it('times of day and dates have Latin digits and the Gregorian calendar', () => {
		const [clock, moment] = inLocale(locale, () => [
			clockText(IN_TWO_DAYS, ZONE),
			momentText(IN_TWO_DAYS, NOW, ZONE)
		]);
		expect(clock).toBe('16:40');
		expect(moment).toMatch(/\b23\b.*16:40$/);
		expect(moment.replace(/\D/g, '')).toBe('231640');
	});

	it('durations and distances have words', () => {
		for (const wire of ['15m', '30m', '1h', '2h', '3h', '6h', '11h', '1d', '2d', '30d', '1w', '2w']) {
			const words = inLocale(locale, () => formatDuration(wire));
			// Intl's fallback for a language without units.
			expect(words).not.toMatch(/^\d+ (min|h|d|w)$/);
			expect(words.replace(/[\d\s]/g, '').length).toBeGreaterThan(1);
		}
		expect(inLocale(locale, () => formatDistance(1449))).toMatch(/1[.,]4/);
	});

	it('a country has a name', () => {
		for (const region of ['UG', 'RW', 'KE', 'ET', 'TZ']) {
			expect(inLocale(locale, () => makePhoneHint(region).country)).not.toBe(region);
		}
	});
});

it('each language has its own words and separators', () => {
	const texts = LOCALES.map((locale) =>
		inLocale(locale, () => `${formatDuration('2h')}, ${formatMoney(1012.5, 'KES')}, ${formatDistance(1449)}`)
	);
	expect(texts.map((text) => text.replaceAll('\u00a0', ' '))).toEqual([
		...['2 hours, KES 1,012.50, 1.4 km', '2 heures, KES 1 012,50, 1,4 km', 'saa 2, KES 1,012.50, km 1.4'],
		...['2 horas, KES 1 012,50, 1,4 km', 'ساعتان, KES 1,012.50, 1.4 كم', 'amasaha 2, KES 1 012,50, 1,4 km'],
		...['essaawa 2, KES 1,012.50, 1.4 km', '2 ሰዓት, KES 1,012.50, 1.4 ኪሜ']
	]);
});

it('a number keeps its order in right-to-left text and is unchanged elsewhere', () => {
	expect(inLocale('ar', () => hideMiddle('0772 123456'))).toBe('\u20660772\u00a0•••\u00a0456\u2069');
	expect(inLocale('sw', () => hideMiddle('0772 123456'))).toBe('0772\u00a0•••\u00a0456');
	expect(inLocale('en', () => apart('net\u202e'))).toBe('\u2066net\u202e\u2069');
	expect(inLocale('ar', () => apart('K7MQ-29XT'))).toBe('\u2066K7MQ-29XT\u2069');
});
