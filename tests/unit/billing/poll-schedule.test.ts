import { describe, expect, it } from 'vitest';
import { computePollDelayMs } from '#lib/server/billing/operator-calls.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Ages at which the operator is asked, from the first look three seconds after the submit. */
function looks(untilMs: number, options = { uncertain: false, hasFailed: false }): number[] {
	const ages: number[] = [];
	for (let age = 3 * second; age <= untilMs; age += computePollDelayMs({ ageMs: age, ...options }))
		ages.push(age);
	return ages;
}

describe('how often the operator is asked', () => {
	it('seconds apart while the payer looks at the screen, a minute apart up to ten minutes', () => {
		const ages = looks(10 * minute);
		expect(ages.slice(0, 4)).toEqual([3, 8, 16, 29].map((seconds) => seconds * second));
		expect(ages.filter((age) => age <= minute).length).toBeGreaterThanOrEqual(5);
		expect(ages.length).toBeGreaterThan(12);
		expect(ages.length).toBeLessThan(20);
	});

	it('then less and less often, up to every six hours', () => {
		expect(looks(72 * hour).length).toBeLessThan(60);
		for (const [ageMs, atMost] of [
			[9 * minute, 66 * second],
			[20 * minute, 5.5 * minute],
			[1 * hour, 16.5 * minute],
			[6 * hour, 66 * minute],
			[71 * hour, 6.6 * hour]
		] as const) {
			const delays = Array.from({ length: 200 }, () =>
				computePollDelayMs({ ageMs, uncertain: false, hasFailed: false })
			);
			expect(Math.max(...delays)).toBeLessThanOrEqual(atMost);
			// Spread, so that payments of one moment do not ask in step for ever.
			expect(new Set(delays).size).toBeGreaterThan(100);
		}
	});

	it('every five seconds while nobody knows whether the request arrived', () => {
		const ages = looks(2 * minute, { uncertain: true, hasFailed: false });
		for (const [index, age] of ages.entries()) expect(age).toBe((3 + 5 * index) * second);
		expect(computePollDelayMs({ ageMs: 3 * minute, uncertain: true, hasFailed: false })).toBeGreaterThan(
			30 * second
		);
	});

	it('at least five minutes apart once it has said no', () => {
		expect(computePollDelayMs({ ageMs: 5 * second, uncertain: false, hasFailed: true })).toBeGreaterThan(
			4.4 * minute
		);
		expect(computePollDelayMs({ ageMs: 20 * hour, uncertain: false, hasFailed: true })).toBeGreaterThan(
			5 * hour
		);
	});
});
