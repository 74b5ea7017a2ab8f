import { describe, expect, it, vi } from 'vitest';
import { createClock } from '../../../src/lib/server/platform/clock.ts';

const HOUR = 60 * 60_000;

describe('the clock', () => {
	let wall = 0;
	let monotonic = 0;
	let awake = 0;

	const start = () => {
		wall = Date.parse('2026-11-22T12:00:00Z');
		monotonic = awake = 0;
		return createClock(
			() => wall,
			() => monotonic,
			() => awake
		);
	};
	const pass = (ms: number) => {
		wall += ms;
		monotonic += ms;
		awake += ms;
	};

	it('follows the clock of the machine, forward jumps included', () => {
		const clock = start();
		expect(clock.now()).toBe(wall);
		pass(1_000);
		expect(clock.now()).toBe(wall);
		wall += HOUR;
		expect(clock.now()).toBe(wall);
	});

	it('goes on at half pace when the machine is set back, and follows it again when it has caught up', () => {
		const clock = start();
		const before = clock.now();
		wall -= HOUR;
		expect(clock.now()).toBe(before);
		pass(1_001);
		expect(clock.now()).toBe(before + 500);
		pass(HOUR);
		expect(clock.now()).toBe(before + HOUR / 2 + 500);
		pass(HOUR);
		expect(clock.now()).toBe(wall);
	});

	it('takes no extra time when the machine is set right again', () => {
		const clock = start();
		const before = clock.now();
		wall -= HOUR;
		clock.now();
		wall += HOUR;
		expect(clock.now()).toBe(before);
		pass(60_000);
		expect(clock.now()).toBe(before + 60_000);
	});

	describe('with somebody who takes its steps', () => {
		/** Steps, and what ends the work that each causes. */
		let steps: number[] = [];
		let done: () => void = () => {};

		const startTold = () => {
			const clock = start();
			steps = [];
			clock.whenSet?.((ms) => {
				steps.push(ms);
				return new Promise((resolve) => (done = resolve));
			});
			clock.now();
			return clock;
		};

		it('follows a step forward when it has been taken', async () => {
			const clock = startTold();
			const before = clock.now();
			wall += HOUR;
			expect(clock.now()).toBe(before);
			pass(1_000);
			expect(clock.now()).toBe(before + 1_000);
			expect(steps).toEqual([HOUR]);
			done();
			await vi.waitFor(() => expect(clock.now()).toBe(wall));
			pass(1_000);
			expect(clock.now()).toBe(wall);
			expect(steps).toEqual([HOUR]);
		});

		it('takes neither sleep of the machine nor a small correction for a step', () => {
			const clock = startTold();
			awake += HOUR;
			wall += HOUR;
			expect(clock.now()).toBe(wall);
			wall += 10_000;
			expect(clock.now()).toBe(wall);
			expect(steps).toEqual([]);
		});

		it('tells once of a step back, which it does not follow', () => {
			const clock = startTold();
			const before = clock.now();
			wall -= HOUR;
			for (let second = 0; second < 10; second += 1) {
				pass(1_000);
				clock.now();
			}
			expect(clock.now()).toBe(before + 5_000);
			expect(steps).toEqual([-HOUR]);
			wall += HOUR;
			clock.now();
			wall -= HOUR;
			clock.now();
			expect(steps).toHaveLength(2);
		});
	});
});
