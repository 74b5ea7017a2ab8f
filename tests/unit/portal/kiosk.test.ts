import { describe, expect, it } from 'vitest';
import { allowedSeconds, idleCount, readIdleSeconds } from '#lib/kiosk/idle.ts';

it.each([
	['', 60],
	['idle=90', 90],
	['idle=1', 30],
	['idle=0', 30],
	['idle=99999', 600],
	['idle=-5', 60],
	['idle=1e3', 60],
	['idle=', 60],
	['idle=9999999', 60]
])('the start address "%s" clears a screen after %d seconds', (search, seconds) => {
	expect(readIdleSeconds(new URLSearchParams(search))).toBe(seconds);
});

describe('the idle time', () => {
	it('is counted by the clock, so that a tablet that slept clears its screen at once', () => {
		let now = 1_000_000;
		const count = idleCount(() => now);
		expect(count.left(60)).toBe(60);
		now += 20_500;
		expect(count.left(60)).toBe(40);
		now += 8 * 60 * 60 * 1000;
		expect(count.left(60)).toBe(0);
		count.here();
		expect(count.left(60)).toBe(60);
	});

	it('is not stretched by a clock that is set back', () => {
		let now = 10_000_000;
		const count = idleCount(() => now);
		now -= 60 * 60 * 1000;
		expect(count.left(60)).toBe(60);
		now += 60_000;
		expect(count.left(60)).toBe(0);
	});

	it('is longer while somebody approves on a phone, and while a password is read', () => {
		expect(allowedSeconds(60, 'choosing')).toBe(60);
		expect(allowedSeconds(60, 'waiting')).toBe(180);
		expect(allowedSeconds(60, 'reading')).toBe(120);
	});
});
