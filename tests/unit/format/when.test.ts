import { expect, test } from 'vitest';
import { pastMoment } from '#lib/format/text.ts';
import { clockText, momentText, timeLeftText } from '#lib/format/words.ts';

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
		'7 d',
		'6 d 4 h',
		'1 h 59 min',
		'2 h',
		'42 min',
		'5 min',
		'4:59',
		'4:07',
		'0:05',
		'0:00',
		'0:00'
	]);
});

test('time left rounds up, so that what was just bought is all there', () => {
	const justBought = [30 * 86_400, 7 * 86_400, 86_400, 7200, 3600, 1800, 300].map((bought) => bought - 0.4);
	expect(justBought.map(timeLeftText)).toEqual(['30 d', '7 d', '1 d', '2 h', '60 min', '30 min', '5 min']);
	const aWhileAgo = [86_400 - 61, 3600 + 1, 3600 - 61, 299.2, 0.1];
	expect(aWhileAgo.map(timeLeftText)).toEqual(['23 h 59 min', '1 h 1 min', '59 min', '5 min', '0:01']);
});
