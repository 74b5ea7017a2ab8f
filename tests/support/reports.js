/**
 * Reads what the two test runners report. Both forms say less than one would think: a file that could not be
 * loaded, or whose beforeAll failed, has no failed test in vitest's report.
 */

/**
 * @typedef {object} Counts
 * @property {number} passed
 * @property {number} failed
 * @property {string[]} skipped names of the tests
 */

/**
 * vitest's JSON reporter.
 * @param {string} text
 * @param {boolean} filtered whether a title was asked for; the tests that it leaves out are reported as skipped
 * @returns {Counts}
 */
export function readVitest(text, filtered) {
	/** @type {{ testResults: { name: string, status: string, assertionResults: { fullName: string, status: string }[] }[] }} */
	const report = JSON.parse(text);
	/** @type {Counts} */
	const counts = { passed: 0, failed: 0, skipped: [] };
	for (const file of report.testResults) {
		for (const test of file.assertionResults) {
			if (test.status === 'passed') counts.passed++;
			else if (test.status === 'failed') counts.failed++;
			else if (!filtered) counts.skipped.push(`${test.fullName} (${file.name})`);
		}
		const blamed = file.assertionResults.some((test) => test.status === 'failed');
		if (file.status === 'failed' && !blamed) counts.failed++;
	}
	return counts;
}

/**
 * Playwright's JSON reporter. A test that only passed when repeated counts as failed.
 * @param {string} text
 * @returns {Counts}
 */
export function readPlaywright(text) {
	/** @type {{ suites: PlaywrightSuite[] }} */
	const report = JSON.parse(text);
	/** @type {Counts} */
	const counts = { passed: 0, failed: 0, skipped: [] };
	for (const spec of report.suites.flatMap(specsOf)) {
		for (const test of spec.tests) {
			if (test.status === 'expected') counts.passed++;
			else if (test.status === 'skipped') counts.skipped.push(`${spec.title} (${spec.file})`);
			else counts.failed++;
		}
	}
	return counts;
}

/**
 * @typedef {{ title: string, file: string, tests: { status: string }[] }} PlaywrightSpec
 * @typedef {{ specs: PlaywrightSpec[], suites?: PlaywrightSuite[] }} PlaywrightSuite
 */

/**
 * @param {PlaywrightSuite} suite
 * @returns {PlaywrightSpec[]}
 */
function specsOf(suite) {
	return [...suite.specs, ...(suite.suites ?? []).flatMap(specsOf)];
}
