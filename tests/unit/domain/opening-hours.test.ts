import { describe, expect, it } from 'vitest';
import { type SaleHours, endOfDay, isOnSale, nextOpen, parseHours } from '#lib/domain/opening-hours.ts';

/** Returns when it opens, or `open`. */
const opens = (hours: string, at: string, zone: string) => {
	const instant = Date.parse(at);
	const next = nextOpen(hours, instant, zone);
	return next === instant ? 'open' : new Date(next).toISOString().slice(0, 16);
};

describe('opening hours', () => {
	// 23 November 2026 is a Monday.
	it.each([
		['mon 08:00-22:00', '2026-11-23T05:00Z', 'open'],
		['mon 08:00-22:00', '2026-11-23T04:59Z', '2026-11-23T05:00'],
		['mon 08:00-22:00', '2026-11-23T18:59Z', 'open'],
		['mon 08:00-22:00', '2026-11-23T19:00Z', '2026-11-30T05:00'],
		['sun 18:00-02:00, mon 18:00-02:00', '2026-11-22T22:59Z', 'open'],
		['sun 18:00-02:00, mon 18:00-02:00', '2026-11-22T23:00Z', '2026-11-23T15:00'],
		['mon 18:00-02:00', '2026-11-22T22:00Z', '2026-11-23T15:00'],
		['sun 00:00-00:00', '2026-11-22T20:59Z', 'open']
	])('%s in Kampala at %s: %s', (hours, at, expected) => {
		expect(opens(hours, at, 'Africa/Kampala')).toBe(expected);
	});

	// In Berlin the clocks go forward at 01:00 UTC on 29 March 2026, and back on 25 October; both are Sundays.
	it.each([
		['sat 18:00-04:00', '2026-03-29T01:59Z', 'open'],
		['sat 18:00-04:00', '2026-03-29T02:00Z', '2026-04-04T16:00'],
		['sat 18:00-04:00', '2026-10-25T02:59Z', 'open'],
		['sat 18:00-04:00', '2026-10-25T03:00Z', '2026-10-31T17:00'],
		// The clocks show 02:30 twice: it opens at the first, and stays open while they show 02:00 again.
		['sun 02:30-05:00', '2026-10-25T00:29Z', '2026-10-25T00:30'],
		['sun 02:30-05:00', '2026-10-25T01:10Z', 'open'],
		['sun 08:00-20:00', '2026-03-29T05:59Z', '2026-03-29T06:00'],
		// A span that the clocks skip is not opened.
		['sun 02:00-03:00', '2026-03-29T00:30Z', '2026-04-05T00:00']
	])('%s in Berlin at %s: %s', (hours, at, expected) => {
		expect(opens(hours, at, 'Europe/Berlin')).toBe(expected);
	});

	it.each([
		['mon 18:00-02:00', '2026-11-23T21:30Z', '2026-11-23T23:00'],
		// It opens again at once, so the day ends in the morning.
		['mon 00:00-00:00, tue 00:00-00:00', '2026-11-23T20:50Z', '2026-11-24T03:00'],
		['mon 18:00-02:00', '2026-11-23T07:00Z', '2026-11-24T03:00'],
		[null, '2026-11-23T21:30Z', '2026-11-24T03:00']
	])('of %s, the day in which it is %s ends at %s', (hours, at, end) => {
		expect(new Date(endOfDay(hours, Date.parse(at), 'Africa/Kampala')).toISOString().slice(0, 16)).toBe(end);
	});

	it.each<[Partial<SaleHours>, string, boolean]>([
		[{}, '2026-11-23T05:00Z', true],
		[{ days: ['sun'] }, '2026-11-22T20:59Z', true],
		[{ days: ['sun'] }, '2026-11-22T21:00Z', false],
		[{ from: '08:00', until: '09:00' }, '2026-11-23T05:59Z', true],
		[{ from: '08:00', until: '09:00' }, '2026-11-23T06:00Z', false],
		[{ days: ['sun'], from: '22:00', until: '02:00' }, '2026-11-22T23:00Z', false],
		[{ days: ['mon'], from: '22:00', until: '02:00' }, '2026-11-22T22:59Z', false]
	])('an offer of %j at %s in Kampala is on sale: %s', (hours, at, expected) => {
		const offer = { days: null, from: null, until: null, ...hours };
		expect(isOnSale(offer, Date.parse(at), 'Africa/Kampala')).toBe(expected);
	});

	it.each(['', 'mon', 'mon 08:00-', 'mon 24:00-02:00', 'mon 8:00-9:00', 'mon 08:00-09:00, mon 10:00-11:00'])(
		'%j is invalid',
		(text) => {
			expect(parseHours(text)).toBeNull();
		}
	);
});
