import { describe, expect, it } from 'vitest';
import { createClock } from '#lib/server/platform/clock.ts';

const HOUR = 60 * 60_000;

describe('the clock', () => {
	let wall = 0;
	let monotonic = 0;

	const start = () => {
		wall = Date.parse('2026-11-22T12:00:00Z');
		monotonic = 0;
		return createClock(
			() => wall,
			() => monotonic
		);
	};
	const pass = (ms: number) => {
		wall += ms;
		monotonic += ms;
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
});
