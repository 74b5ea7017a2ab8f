/** Reads the JSON reports of vitest and Playwright. */
import { stripVTControlCharacters } from 'node:util';

/** Lines of a failure's message that are shown: enough for what was expected and what came. */
const shownLines = 8;

/**
 * @typedef {object} Counts
 * @property {number} passed
 * @property {string[]} failed names of the tests, each followed by the beginning of its message
 * @property {string[]} skipped names of the tests
 * @property {{ file: string, ms: number }[]} files duration of each file (vitest) or of its tests (Playwright)
 */

/**
 * Reads vitest's JSON report. A file that could not be loaded, or whose beforeAll failed, has no failed test in the
 * report and counts as one failure.
 * @param {string} text
 * @param {boolean} filtered true if a title was given: the tests that it leaves out are reported as skipped
 * @returns {Counts}
 */
export function readVitest(text, filtered) {
	/** @type {{ testResults: { name: string, status: string, startTime: number, endTime: number, message: string, assertionResults: { fullName: string, status: string, failureMessages?: string[] }[] }[] }} */
	const report = JSON.parse(text);
	/** @type {Counts} */
	const counts = { passed: 0, failed: [], skipped: [], files: [] };
	for (const file of report.testResults) {
		counts.files.push({ file: file.name, ms: file.endTime - file.startTime });
		for (const test of file.assertionResults) {
			if (test.status === 'passed') counts.passed++;
			else if (test.status === 'failed')
				counts.failed.push(failure(`${test.fullName} (${file.name})`, test.failureMessages?.[0]));
			else if (!filtered) counts.skipped.push(`${test.fullName} (${file.name})`);
		}
		const blamed = file.assertionResults.some((test) => test.status === 'failed');
		if (file.status === 'failed' && !blamed) counts.failed.push(failure(file.name, file.message));
	}
	return counts;
}

/**
 * Reads Playwright's JSON report. A test that passed only on a retry counts as failed.
 * @param {string} text
 * @returns {Counts}
 */
export function readPlaywright(text) {
	/** @type {{ suites: PlaywrightSuite[] }} */
	const report = JSON.parse(text);
	/** @type {Counts} */
	const counts = { passed: 0, failed: [], skipped: [], files: [] };
	/** @type {Map<string, number>} */
	const durations = new Map();
	for (const spec of report.suites.flatMap(specsOf)) {
		for (const test of spec.tests) {
			const ms = test.results.reduce((sum, { duration }) => sum + duration, 0);
			durations.set(spec.file, (durations.get(spec.file) ?? 0) + ms);
			if (test.status === 'expected') counts.passed++;
			else if (test.status === 'skipped') counts.skipped.push(`${spec.title} (${spec.file})`);
			else
				counts.failed.push(
					failure(
						`${spec.title} (${spec.file}, ${test.projectName})`,
						test.results.find(({ error }) => error)?.error?.message
					)
				);
		}
	}
	counts.files = [...durations].map(([file, ms]) => ({ file, ms }));
	return counts;
}

/**
 * @typedef {{ title: string, file: string, tests: { status: string, projectName: string, results: { duration: number, error?: { message?: string } }[] }[] }} PlaywrightSpec
 * @typedef {{ specs: PlaywrightSpec[], suites?: PlaywrightSuite[] }} PlaywrightSuite
 */

/**
 * @param {PlaywrightSuite} suite
 * @returns {PlaywrightSpec[]}
 */
function specsOf(suite) {
	return [...suite.specs, ...(suite.suites ?? []).flatMap(specsOf)];
}

/**
 * @param {string} name
 * @param {string} [message]
 */
function failure(name, message = '') {
	const lines = stripVTControlCharacters(message).split('\n').filter(Boolean).slice(0, shownLines);
	return [name, ...lines].join('\n\t\t');
}
