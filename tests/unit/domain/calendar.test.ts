import { describe, expect, it } from 'vitest';
import { MAX_BUCKETS, type Period, buckets, dateAt, isDate, nextMorning } from '#lib/domain/time.ts';
import { random } from '../../support/random.ts';

const hour = 3_600_000;
const day = 24 * hour;

const PERIODS: Period[] = ['daily', 'weekly', 'monthly'];
const ZONES = [
	'Africa/Kampala',
	'Europe/Berlin',
	'America/New_York',
	// Half and quarter hours; clocks that change at midnight; a day that never was.
	'Asia/Kathmandu',
	'America/Santiago',
	'Africa/Cairo',
	'Asia/Beirut',
	'Australia/Lord_Howe',
	'Pacific/Apia',
	'UTC'
];

const spanOf = (period: Period, from: string | null, to: string | null, zone = 'Africa/Kampala') =>
	buckets(period, { from, to }, '2026-11-21', zone);

const daysOf = (period: Period, from: string | null, to: string | null, zone?: string) =>
	spanOf(period, from, to, zone)?.map(({ start, end }) => `${start} ${end}`);

const instantsOf = (date: string, zone: string) => {
	const [bucket] = spanOf('daily', date, date, zone) ?? [];
	return bucket && [bucket.from, bucket.until].map((instant) => new Date(instant).toISOString());
};

describe('a date', () => {
	it.each(['2026-11-21', '2024-02-29', '2000-02-29', '1970-01-01', '9999-12-31'])('%s exists', (text) => {
		expect(isDate(text)).toBe(true);
	});

	it.each([
		...['2026-02-29', '2100-02-29', '2026-02-30', '2026-04-31', '2026-13-01', '2026-00-10', '2026-01-00'],
		...['2026-1-1', '26-01-01', '2026-11-21T00:00', '2026-11-21 ', ' 2026-11-21', '+2026-11-21', '20261121'],
		...['', 'today', '2026/11/21', '-2026-11-21', '٢٠٢٦-١١-٢١', '2026-11-21\n']
	])('%j does not', (text) => {
		expect(isDate(text)).toBe(false);
	});

	it('is that of the zone, up to the last millisecond before midnight', () => {
		const midnight = Date.UTC(2026, 10, 20, 21);
		expect(dateAt(midnight - 1, 'Africa/Kampala')).toBe('2026-11-20');
		expect(dateAt(midnight, 'Africa/Kampala')).toBe('2026-11-21');
		expect(dateAt(midnight, 'America/New_York')).toBe('2026-11-20');
		expect(dateAt(midnight, 'UTC')).toBe('2026-11-20');
	});
});

describe('buckets', () => {
	it('are ISO weeks from Monday to Sunday, over the end of a year and of February', () => {
		expect(daysOf('weekly', '2026-12-31', '2027-01-04')).toEqual([
			'2026-12-28 2027-01-03',
			'2027-01-04 2027-01-10'
		]);
		expect(daysOf('weekly', '2024-02-29', '2024-02-29')).toEqual(['2024-02-26 2024-03-03']);
		expect(daysOf('weekly', '2026-11-16', '2026-11-22')).toEqual(['2026-11-16 2026-11-22']);
		expect(daysOf('weekly', '1970-01-01', '1970-01-05')).toEqual([
			'1969-12-29 1970-01-04',
			'1970-01-05 1970-01-11'
		]);
	});

	it('are months with their own lengths', () => {
		expect(daysOf('monthly', '2023-12-31', '2024-03-01')).toEqual([
			'2023-12-01 2023-12-31',
			'2024-01-01 2024-01-31',
			'2024-02-01 2024-02-29',
			'2024-03-01 2024-03-31'
		]);
		expect(daysOf('monthly', '2026-02-14', '2026-02-14')).toEqual(['2026-02-01 2026-02-28']);
	});

	it('without a span are the last 30 days, 12 weeks or 12 months, with today in the last one', () => {
		const ends = (period: Period) => {
			const found = spanOf(period, null, null) ?? [];
			return [found.length, found[0]?.start, found.at(-1)?.start, found.at(-1)?.end];
		};
		expect(ends('daily')).toEqual([30, '2026-10-23', '2026-11-21', '2026-11-21']);
		expect(ends('weekly')).toEqual([12, '2026-08-31', '2026-11-16', '2026-11-22']);
		expect(ends('monthly')).toEqual([12, '2025-12-01', '2026-11-01', '2026-11-30']);
	});

	it('with one end only go up to today, or as far back as without a span', () => {
		expect(daysOf('daily', '2026-11-20', null)).toEqual(['2026-11-20 2026-11-20', '2026-11-21 2026-11-21']);
		expect(spanOf('daily', null, '2024-03-01')?.map(({ start }) => start)).toHaveLength(30);
		expect(spanOf('daily', null, '2024-03-01')?.[0]?.start).toBe('2024-02-01');
		expect(spanOf('monthly', null, '2024-03-01')?.[0]?.start).toBe('2023-04-01');
	});

	it('are none when the span ends before it begins, even inside one bucket', () => {
		for (const period of PERIODS) expect(spanOf(period, '2026-11-21', '2026-11-20')).toBeNull();
		expect(spanOf('daily', '2026-11-22', null)).toBeNull();
		expect(spanOf('weekly', '2026-11-23', null)).toBeNull();
	});

	it('are at most 366: a leap year of days, and no day more', () => {
		expect(spanOf('daily', '2024-01-01', '2024-12-31')).toHaveLength(MAX_BUCKETS);
		expect(spanOf('daily', '2024-01-01', '2025-01-01')).toBeNull();
		expect(spanOf('weekly', '2020-01-06', '2027-01-10')).toHaveLength(MAX_BUCKETS);
		expect(spanOf('weekly', '2020-01-06', '2027-01-11')).toBeNull();
		expect(spanOf('monthly', '2000-01-01', '2030-06-30')).toHaveLength(MAX_BUCKETS);
		expect(spanOf('monthly', '2000-01-01', '2030-07-01')).toBeNull();
		expect(spanOf('daily', '1970-01-01', '9998-12-31')).toBeNull();
	});
});

describe('a day', () => {
	it.each([
		['2026-11-21', 'Africa/Kampala', '2026-11-20T21:00:00.000Z', '2026-11-21T21:00:00.000Z'],
		['2026-03-08', 'America/New_York', '2026-03-08T05:00:00.000Z', '2026-03-09T04:00:00.000Z'],
		['2026-11-01', 'America/New_York', '2026-11-01T04:00:00.000Z', '2026-11-02T05:00:00.000Z'],
		// The clocks went from 00:00 to 01:00: this day began at one o'clock.
		['2024-09-08', 'America/Santiago', '2024-09-08T04:00:00.000Z', '2024-09-09T03:00:00.000Z'],
		// The clocks went from 24:00 to 23:00: one more hour of the day before.
		['2024-04-06', 'America/Santiago', '2024-04-06T03:00:00.000Z', '2024-04-07T04:00:00.000Z'],
		// From 01:00 to 00:00: midnight came twice, and the first one counts.
		['2024-11-03', 'America/Havana', '2024-11-03T04:00:00.000Z', '2024-11-04T05:00:00.000Z'],
		// The date line was moved over this one.
		['2011-12-30', 'Pacific/Apia', '2011-12-30T10:00:00.000Z', '2011-12-30T10:00:00.000Z']
	])('%s in %s lasts from %s to %s', (date, zone, from, until) => {
		expect(instantsOf(date, zone)).toEqual([from, until]);
	});
});

describe.each(ZONES)('in %s', (zone) => {
	it('buckets follow each other without gap or overlap, and hold the instants of their days', () => {
		// Judged together: an expectation for each of 100,000 instants takes much longer than the buckets.
		const faults: string[] = [];
		for (let seed = 1; seed <= 60; seed += 1) {
			const next = random(seed);
			const period = PERIODS[next(3)] ?? 'daily';
			const today = dateAt(Date.UTC(2005, 0, 1) + next(30 * 365) * day, zone);
			const start = Date.parse(`${today}T12:00:00Z`) - next(300) * day;
			const from = next(4) === 0 ? null : new Date(start).toISOString().slice(0, 10);
			const found = buckets(period, { from, to: null }, today, zone) ?? [];
			const check = (isRight: boolean, what: string) => {
				if (!isRight) faults.push(`seed ${seed}: ${period} ${from} ${today}: ${what}`);
			};
			check(found.length > 0, 'none');
			if (from !== null) check((found[0]?.start ?? '') <= from, 'begins late');
			check((found.at(-1)?.end ?? '') >= today, 'ends early');
			for (const [index, bucket] of found.entries()) {
				const following = found[index + 1];
				if (following) {
					check(following.from === bucket.until, `gap after ${bucket.end}`);
					const isNextDay = Date.parse(following.start) - Date.parse(bucket.end) === day;
					check(isNextDay, `${following.start} follows ${bucket.end}`);
				}
				check(bucket.end >= bucket.start, `${bucket.start} ends ${bucket.end}`);
				if (bucket.until === bucket.from) continue;
				// By the zone's own clocks, not by this module's arithmetic.
				for (const instant of [
					bucket.from,
					bucket.until - 1,
					bucket.from + next(bucket.until - bucket.from)
				]) {
					const date = dateAt(instant, zone);
					check(date >= bucket.start && date <= bucket.end, `${date} in ${bucket.start}`);
				}
				check(dateAt(bucket.from - 1, zone) < bucket.start, `${bucket.start} begins late`);
			}
		}
		expect(faults).toEqual([]);
	});
});

it.each([
	['Africa/Kampala', '2026-11-24T09:00:00Z', '2026-11-25T03:00:00Z'],
	['Africa/Kampala', '2026-11-25T01:00:00Z', '2026-11-25T03:00:00Z'],
	['Africa/Kampala', '2026-11-25T01:00:01Z', '2026-11-26T03:00:00Z'],
	['Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-29T04:00:00Z'],
	['America/New_York', '2026-10-31T12:00:00Z', '2026-11-01T11:00:00Z']
])('the next morning in %s after %s is %s', (timeZone, now, morning) => {
	expect(new Date(nextMorning(Date.parse(now), timeZone)).toISOString()).toBe(morning.replace('Z', '.000Z'));
});
