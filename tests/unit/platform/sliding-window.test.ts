import { describe, expect, it } from 'vitest';
import { SlidingWindow } from '#lib/server/rate-limits.ts';
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
});
