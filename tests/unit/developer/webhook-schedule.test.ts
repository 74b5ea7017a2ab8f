/** Retries of a failed webhook (wire format 5.4). */
import { describe, expect, it } from 'vitest';
import {
	type FailedAttempt,
	computeNextAttempt
} from '../../../src/lib/server/developer/webhook-delivery.ts';

const second = 1_000;
const hour = 3_600 * second;
const start = Date.parse('2026-11-21T09:00:00.000Z');

const failed: FailedAttempt = { tries: 1, now: start, statusCode: 500, retryAfter: null };
/** Seconds from a failed attempt to the next, without jitter. */
const waits = (attempt: Partial<FailedAttempt>) => {
	const next = computeNextAttempt({ ...failed, ...attempt }, 0.5);
	return next === null ? null : (next - start) / second;
};

describe('after a failed attempt', () => {
	it('the next one comes by the table, and after the tenth there is none', () => {
		const table = Array.from({ length: 11 }, (_, index) => waits({ tries: index + 1 }));
		expect(table).toEqual([5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400, null, null]);
		const hours = table.reduce<number>((sum, wait) => sum + (wait ?? 0), 0) / 3600;
		expect(hours.toFixed(1)).toBe('75.6');
	});

	it('a tenth more or less, so that many do not come back at once', () => {
		for (const [random, share] of [
			[0, 0.9],
			[0.25, 0.95],
			[0.999_999_9, 1.1]
		] as const) {
			const next = computeNextAttempt({ ...failed, tries: 4 }, random);
			expect(next).toBeCloseTo(start + 2 * hour * share, -1);
		}
	});

	it.each([429, 503])('with status %i Retry-After puts it off, for an hour at most', (statusCode) => {
		const after = (retryAfter: string) => waits({ statusCode, retryAfter });
		expect(after('60')).toBe(60);
		expect(after(' 60 ')).toBe(60);
		expect(after('3600')).toBe(3600);
		expect(after('3601')).toBe(3600);
		expect(after('999999999')).toBe(3600);
		expect(after('Sat, 21 Nov 2026 09:02:00 GMT')).toBe(120);
		expect(after('Sun, 21 Nov 2027 09:02:00 GMT')).toBe(3600);
	});

	it('Retry-After never brings it forward, and nonsense is not heeded', () => {
		for (const retryAfter of ['0', '4', '-60', '1e9', 'soon', '', 'Sat, 21 Nov 2020 09:02:00 GMT']) {
			expect(waits({ statusCode: 503, retryAfter }), retryAfter).toBe(5);
		}
		expect(waits({ statusCode: 503, retryAfter: '60', tries: 2 })).toBe(300);
	});

	it('with any other status Retry-After says nothing', () => {
		for (const statusCode of [200, 301, 400, 500, 502])
			expect(waits({ statusCode, retryAfter: '60' })).toBe(5);
	});

	it('Retry-After adds no attempt after the last one', () => {
		expect(waits({ statusCode: 503, retryAfter: '60', tries: 10 })).toBeNull();
	});
});
