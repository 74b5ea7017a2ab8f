import { expect, test } from 'vitest';
import { pastMoment } from '#lib/format/text.ts';
import { clockText, momentText, timeLeftText } from '#lib/format/words.ts';
import { setLocaleSource } from '#lib/i18n/current.ts';
import { LOCALES } from '#lib/i18n/locales.ts';

const ZONE = 'Africa/Kampala';
const NOW = new Date('2026-11-21T12:40:00Z');

test('a moment of today is a time of day, in the time zone of the installation', () => {
	expect(momentText(new Date('2026-11-21T13:40:00Z'), NOW, ZONE)).toBe('16:40');
	expect(clockText(new Date('2026-11-21T21:05:00Z'), ZONE)).toBe('00:05');
});

test('a moment of another day carries the day', () => {
	expect(momentText(new Date('2026-11-21T21:05:00Z'), NOW, ZONE)).toBe('tomorrow, 00:05');
	expect(momentText(new Date('2026-11-23T13:40:00Z'), NOW, ZONE)).toBe('Monday 23 November, 16:40');
	expect(momentText(new Date('2026-11-20T13:40:00Z'), NOW, ZONE)).toBe('Friday 20 November, 16:40');
});

test('a moment in the past carries the year if it is another one', () => {
	const at = { now: NOW.getTime(), timeZone: ZONE };
	expect(pastMoment(Date.parse('2026-01-05T13:40:00Z'), at)).toBe('5 Jan, 16:40');
	expect(pastMoment(Date.parse('2025-12-19T18:31:00Z'), at)).toBe('19 Dec 2025, 21:31');
	// It is 2026 in Kampala already.
	expect(pastMoment(Date.parse('2025-12-31T21:05:00Z'), at)).toBe('1 Jan, 00:05');
});

test('time left is coarse while it is long, and exact near its end', () => {
	const seconds = [7 * 86_400, 6 * 86_400 + 4 * 3600, 7133, 7200, 2520, 300, 299, 247, 5, 0, -3];
	const texts = seconds.map(timeLeftText);
	expect(texts).toEqual([
		...['7 days', '6 days 4 hours', '1 hour 59 minutes', '2 hours', '42 minutes', '5 minutes', '4:59'],
		...['4:07', '0:05', '0:00', '0:00']
	]);
});

test('time left rounds up, so that what was just bought is all there', () => {
	const justBought = [30 * 86_400, 7 * 86_400, 86_400, 7200, 3600, 1800, 300].map((bought) => bought - 0.4);
	expect(justBought.map(timeLeftText)).toEqual([
		...['30 days', '7 days', '1 day', '2 hours', '1 hour', '30 minutes', '5 minutes']
	]);
	const aWhileAgo = [86_400 - 61, 3600 + 1, 3600 - 61, 299.2, 0.1];
	expect(aWhileAgo.map(timeLeftText)).toEqual([
		...['23 hours 59 minutes', '1 hour 1 minute', '59 minutes', '5 minutes', '0:01']
	]);
});

test('time left has the plurals of each language', () => {
	const texts = LOCALES.map((locale) => {
		setLocaleSource({ locale: () => locale, pathname: () => '/' });
		return [3600, 2 * 3600 + 60 * 5, 86_400, 11 * 86_400].map(timeLeftText).join('; ');
	});
	setLocaleSource({ locale: () => 'en', pathname: () => '/' });
	expect(texts.map((text) => text.replaceAll('\u00a0', ' '))).toEqual([
		...['1 hour; 2 hours 5 minutes; 1 day; 11 days', '1 heure; 2 heures 5 minutes; 1 jour; 11 jours'],
		...['saa 1; saa 2 na dakika 5; siku 1; siku 11', '1 hora; 2 horas e 5 minutos; 1 dia; 11 dias'],
		...['ساعة; ساعتان و5 دقائق; يوم; 11 يومًا', 'isaha 1; amasaha 2, iminota 5; umunsi 1; iminsi 11'],
		...['essaawa 1; essaawa 2, eddakiika 5; olunaku 1; ennaku 11', '1 ሰዓት; 2 ሰዓት ከ5 ደቂቃ; 1 ቀን; 11 ቀን']
	]);
});
