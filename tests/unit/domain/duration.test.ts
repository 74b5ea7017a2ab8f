import { describe, expect, it } from 'vitest';
import { formatDuration, readDurationName } from '#lib/domain/time.ts';
import { LOCALES } from '#lib/i18n/locales.ts';

describe('a duration', () => {
	it('reads as people say it', () => {
		expect(['15m', '1h', '2h', '1d', '30d', '1w', 'soon'].map((text) => formatDuration(text))).toEqual([
			...['15 minutes', '1 hour', '2 hours', '1 day', '30 days', '1 week', 'soon']
		]);
	});

	it('of hours and days has both', () => {
		expect(['25h', '48h', '24h', '60m', '90m', '1501m'].map((text) => formatDuration(text))).toEqual([
			...['1 day 1 hour', '2 days', '24 hours', '1 hour', '1 hour 30 minutes', '1 day 1 hour 1 minute']
		]);
		const inEvery = LOCALES.map((locale) => formatDuration('51h', locale));
		expect(inEvery).toEqual([
			...['2 days 3 hours', '2\u00a0jours 3\u00a0heures', 'siku 2 na saa 3', '2 dias e 3 horas'],
			...['يومان و3 ساعات', 'iminsi 2, amasaha 3', 'ennaku 2, essaawa 3', '2 ቀን ከ3 ሰዓት']
		]);
	});
});

describe('a name that only repeats a duration', () => {
	it.each([
		['Hour', '60m', 'en'],
		['30 min', '30m', 'en'],
		['ساعتان', '2h', 'ar'],
		['1-hour', '1h', 'en'],
		['Daily', '24h', 'en'],
		['Pass 1 jour', '1d', 'fr'],
		['Mensal', '30d', 'pt'],
		['شهر', '30d', 'ar']
	] as const)('%s for %s is found in its language', (name, duration, locale) => {
		expect(readDurationName(name, duration)?.locales.has(locale)).toBe(true);
	});

	it.each([
		['2 hours', '1h'],
		['Happy hour', '1h'],
		['Night pass', '1d'],
		['Pass', '1d'],
		['', '1d']
	])('%j for %s is none', (name, duration) => {
		expect(readDurationName(name, duration)).toBeNull();
	});
});
