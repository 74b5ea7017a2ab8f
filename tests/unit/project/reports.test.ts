import { describe, expect, it } from 'vitest';
import { readPlaywright, readVitest } from '../../support/runner/reports.js';

const file = (status: string, ...tests: string[]) => ({
	name: 'a.test.ts',
	status,
	startTime: 1_000,
	endTime: 3_500,
	assertionResults: tests.map((each, index) => ({
		fullName: `test ${index}`,
		status: each,
		failureMessages: each === 'failed' ? ['expected 1 to be 2\n    at a.test.ts:3'] : []
	}))
});
const vitest = (...testResults: unknown[]) => JSON.stringify({ testResults });

describe("vitest's report", () => {
	it('counts each test by its outcome, and names each failure with its reason', () => {
		const report = vitest(file('failed', 'passed', 'failed', 'skipped', 'todo'), file('passed', 'passed'));
		expect(readVitest(report, false)).toEqual({
			passed: 2,
			failed: ['test 1 (a.test.ts)\n\t\texpected 1 to be 2\n\t\t    at a.test.ts:3'],
			skipped: ['test 2 (a.test.ts)', 'test 3 (a.test.ts)'],
			files: [
				{ file: 'a.test.ts', ms: 2_500 },
				{ file: 'a.test.ts', ms: 2_500 }
			]
		});
	});

	it('counts a file that failed without a failed test (not loaded, beforeAll) as one failure', () => {
		expect(readVitest(vitest(file('failed')), false).failed).toEqual(['a.test.ts']);
		expect(readVitest(vitest(file('failed', 'skipped')), false).failed).toEqual(['a.test.ts']);
	});

	it('does not call the tests skipped that a filter leaves out', () => {
		expect(readVitest(vitest(file('passed', 'passed', 'skipped')), true).skipped).toEqual([]);
	});

	it('is refused when it is not a report', () => {
		expect(() => readVitest('{}', false)).toThrow();
		expect(() => readVitest('', false)).toThrow();
	});
});

it("counts Playwright's tests in nested groups, and a flaky one as failed", () => {
	const spec = (status: string) => ({
		title: `is ${status}`,
		file: 'a.spec.ts',
		tests: [{ status, projectName: 'sqlite', results: [{ duration: 250, error: { message: 'timed out' } }] }]
	});
	const inner = { specs: [spec('unexpected'), spec('flaky'), spec('skipped')] };
	const report = JSON.stringify({ suites: [{ specs: [spec('expected')], suites: [inner] }] });
	expect(readPlaywright(report)).toEqual({
		passed: 1,
		failed: ['is unexpected', 'is flaky'].map((title) => `${title} (a.spec.ts, sqlite)\n\t\ttimed out`),
		skipped: ['is skipped (a.spec.ts)'],
		files: [{ file: 'a.spec.ts', ms: 1_000 }]
	});
});
