import { describe, expect, it } from 'vitest';
import { SlidingWindow } from '../../../src/lib/server/rate-limits.ts';
import { random } from '../../support/random.ts';

const minute = 60_000;

/** The rule, as it is written: every admitted time is kept, and those of the last minute are counted. */
function bruteForce(limit: number) {
	const log: number[] = [];
	return (now: number) => {
		const counted = log.filter((at) => at > now - minute);
		const admitted = counted.length < limit;
		if (admitted) {
			log.push(now);
			counted.push(now);
		}
		const oldest = counted[0];
		return {
			admitted,
			remaining: limit - counted.length,
			resetMs: oldest === undefined ? 0 : oldest + minute - now
		};
	};
}

describe('a sliding window', () => {
	it('decides as a log of all admitted requests does, at any times, equal ones too', () => {
		for (let seed = 1; seed <= 100; seed += 1) {
			const next = random(seed);
			const limit = 1 + next(seed % 3 === 0 ? 120 : 6);
			const window = new SlidingWindow(limit, minute);
			const expected = bruteForce(limit);
			// Gaps such that the window is sometimes idle, sometimes full, and its edge is often hit exactly.
			const gap = [1, 20, 1_000, minute / limit, minute][next(5)] ?? 1;
			let now = 1_790_000_000_000;
			const times = Array.from({ length: 400 }, () => {
				const kind = next(20);
				if (kind === 1) now += minute;
				else if (kind > 6) now += next(Math.ceil(gap));
				return now;
			});
			expect(
				times.map((time) => window.take(time)),
				`seed ${seed}`
			).toEqual(times.map(expected));
		}
	});

	it('never admits more than its limit in any 60 s, wherever they begin', () => {
		const next = random(7);
		const window = new SlidingWindow(100, minute);
		const admitted: number[] = [];
		for (let now = 0; now < 10 * minute; now += next(400)) if (window.take(now).admitted) admitted.push(now);
		expect(admitted.length).toBeGreaterThan(900);
		for (const [index, at] of admitted.entries()) {
			const after = admitted[index + 100];
			if (after !== undefined) expect(after - at).toBeGreaterThanOrEqual(minute);
		}
	});

	it('admits a burst of 100 at one moment, and refuses the 101st until the first are 60 s old', () => {
		const window = new SlidingWindow(100, minute);
		for (let sent = 1; sent <= 100; sent += 1) {
			expect(window.take(5_000)).toEqual({ admitted: true, remaining: 100 - sent, resetMs: minute });
		}
		expect(window.take(5_000)).toEqual({ admitted: false, remaining: 0, resetMs: minute });
		expect(window.take(5_000 + minute - 1)).toEqual({ admitted: false, remaining: 0, resetMs: 1 });
		expect(window.take(5_000 + minute)).toEqual({ admitted: true, remaining: 99, resetMs: minute });
	});

	it('does not let 200 through around the edge of a minute', () => {
		const window = new SlidingWindow(100, minute);
		for (let sent = 0; sent < 100; sent += 1) expect(window.take(minute - 1).admitted).toBe(true);
		for (let sent = 0; sent < 100; sent += 1) expect(window.take(minute).admitted).toBe(false);
		expect(window.take(2 * minute - 2).admitted).toBe(false);
		expect(window.take(2 * minute - 1).admitted).toBe(true);
	});

	it('does not count what it refused: who keeps asking is admitted as soon as who waits', () => {
		const window = new SlidingWindow(2, minute);
		window.take(0);
		window.take(10_000);
		for (let now = 10_001; now < minute; now += 500) expect(window.take(now).admitted).toBe(false);
		expect(window.take(minute)).toEqual({ admitted: true, remaining: 0, resetMs: 10_000 });
		expect(window.take(minute + 9_999).admitted).toBe(false);
		expect(window.take(minute + 10_000).admitted).toBe(true);
	});

	it('is idle when nothing of it counts', () => {
		const window = new SlidingWindow(3, minute);
		expect(window.isIdle(0)).toBe(true);
		window.take(0);
		expect(window.isIdle(minute - 1)).toBe(false);
		expect(window.isIdle(minute)).toBe(true);
	});
});
