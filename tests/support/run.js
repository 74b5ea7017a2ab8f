/**
 * `npm test`: prepares a fresh clone, runs the tests and prints `N passed, N failed` (and `, N skipped`) as its last
 * line. Exits with 0 only if tests ran and none failed. With CI=true a skipped test is a failure.
 *
 *   npm test                       each rule once: most API tests on SQLite, browser tests on one set-up
 *   npm test -- --all              every combination of tests and databases, as CI does
 *   npm test -- api refunds        one part (unit, api, gateways, e2e), then arguments of vitest or Playwright
 *
 * AIRTILL_FAILED_CHECKS names checks that failed before the tests (see .ci/run). It is printed beside the result.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { stripVTControlCharacters } from 'node:util';
import {
	SetupError,
	endWithNpm,
	ensureBuilt,
	ensureInstalled,
	ensureNode,
	root,
	run,
	stampOf
} from '../../src/cli/bootstrap.js';
import { ensureBrowser, gatewaysNeed, installMissing } from './programs.js';

const PARTS = /** @type {const} */ (['unit', 'api', 'gateways', 'e2e']);
const runnerLimitMs = 60 * 60_000;
const REASON_LINES = 8;
const REASON_WIDTH = 300;
const reports = path.join(root, 'tests/output');

const [part, ...filter] = process.argv.slice(2).filter((word) => word !== '--all');
const wanted = PARTS.filter((name) => part === undefined || part === name);
if (process.argv.includes('--all')) process.env['AIRTILL_TEST_ALL'] = '1';

const total = { passed: 0, failed: /** @type {string[]} */ ([]), skipped: /** @type {string[]} */ ([]) };

endWithNpm();
try {
	if (wanted.length === 0)
		throw new SetupError(`Usage: npm test -- [--all] [${PARTS.join('|')} [argument...]]`);
	await ensureInstalled({ withDev: true });
	await ensureNode();
	process.chdir(root);
	mkdirSync(reports, { recursive: true });
	await runNode('node_modules/@sveltejs/kit/svelte-kit.js', ['sync']);
	const built = part === 'unit' ? false : ensureBuilt();
	// The build goes on beside the installations.
	installMissing(...wanted.filter((name) => name !== 'unit'));
	const suites = wanted.filter((name) => name !== 'e2e' && canRun(name));
	await compileMessages({ areNew: await built });
	await runVitest(suites);
	// The browser comes last: without one the other tests have still run.
	if (wanted.includes('e2e')) await runPlaywright();
} catch (error) {
	total.failed.push(
		error instanceof SetupError ? error.message : String(error instanceof Error ? error.stack : error)
	);
}
printResult();

/**
 * Compiles the messages that the tests import, unless they are there.
 * @param {{ areNew: boolean }} messages whether a build has just compiled them
 */
async function compileMessages({ areNew }) {
	// Every compilation empties this folder first: no stamp is left beside the messages of another one.
	const stampFile = path.join(root, 'src/lib/i18n/generated/.stamp');
	const stamp = stampOf(root, ['project.inlang/settings.json', 'src/lib/i18n/messages', 'package-lock.json']);
	if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return;
	if (!areNew) {
		console.error('Compiling the messages ...');
		const { code, output } = await run('npm', ['run', 'language'], { cwd: root });
		if (code !== 0) throw new SetupError(`${output}\nnpm run language failed (code ${code}).`);
	}
	writeFileSync(stampFile, stamp);
}

/**
 * Whether a part can run here; tests/gateways are skipped with the reason where they cannot.
 * @param {string} suite
 */
function canRun(suite) {
	const missing = suite === 'gateways' ? gatewaysNeed() : null;
	if (missing === null) return true;
	if (part === 'gateways') throw new SetupError(missing);
	console.error(missing);
	total.skipped.push(`tests/gateways: ${missing}`);
	return false;
}

/** @param {string[]} suites folders of tests/ */
async function runVitest(suites) {
	if (suites.length === 0) return;
	const report = path.join(reports, 'vitest.json');
	await runTests(report, readVitest, 'node_modules/vitest/vitest.mjs', [
		...['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
		...(filter.length > 0
			? [`--project=${part === 'unit' ? 'unit' : 'api'}`, ...filter]
			: suites.map((name) => `tests/${name}/`))
	]);
}

async function runPlaywright() {
	process.env['AIRTILL_CHROMIUM'] = await ensureBrowser();
	const args = ['test', '--config=tests/e2e/playwright.config.ts', ...filter];
	await runTests(
		path.join(reports, 'e2e.json'),
		readPlaywright,
		'node_modules/@playwright/test/cli.js',
		args
	);
}

/** @typedef {{ passed: number, failed: string[], skipped: string[] }} Counts */

/**
 * Runs a test runner and adds its report to the total. A runner that crashed, or failed without a failed test,
 * counts as one failure.
 * @param {string} report path of the report that the runner writes
 * @param {(report: any) => Counts} read
 * @param {string} script
 * @param {string[]} args
 */
async function runTests(report, read, script, args) {
	// A runner that crashes must not be judged by the report of an earlier run.
	rmSync(report, { force: true });
	const { code } = await run(process.execPath, [script, ...args], {
		stdio: ['ignore', 'inherit', 'inherit'],
		timeout: runnerLimitMs
	});
	try {
		const { passed, failed, skipped } = read(JSON.parse(readFileSync(report, 'utf8')));
		total.passed += passed;
		total.failed.push(...failed);
		total.skipped.push(...skipped);
		if (code !== 0 && failed.length === 0)
			total.failed.push(`${script} exited with code ${code} although no test failed. See its output above.`);
	} catch (error) {
		total.failed.push(`${script} crashed (code ${code}) without a valid report: ${String(error)}.`);
	}
}

/**
 * Reads vitest's JSON report. A file that could not be loaded, or whose beforeAll failed, has no failed test in it and
 * counts as one failure.
 * @typedef {{ fullName: string, status: string, failureMessages: string[] }} VitestTest
 * @typedef {{ name: string, status: string, message: string, assertionResults: VitestTest[] }} VitestFile
 * @param {{ testResults: VitestFile[] }} report
 * @returns {Counts}
 */
function readVitest({ testResults }) {
	const tests = testResults.flatMap(({ name, assertionResults }) =>
		assertionResults.map(({ fullName, status, failureMessages }) => ({
			name: `${fullName} (${name})${reasonOf(failureMessages)}`,
			status
		}))
	);
	const files = testResults.filter(
		({ status, assertionResults }) =>
			status === 'failed' && !assertionResults.some((test) => test.status === 'failed')
	);
	const named = (/** @type {RegExp} */ status) =>
		tests.filter((test) => status.test(test.status)).map(({ name }) => name);
	return {
		passed: named(/^passed$/).length,
		failed: [...named(/^failed$/), ...files.map(({ name, message }) => name + reasonOf([message]))],
		skipped: named(/^(?!passed|failed)/)
	};
}

/**
 * Reads Playwright's JSON report. A test that passed only on a retry counts as failed.
 * @typedef {{ status: string, projectName: string, results: { error?: { message?: string } }[] }} PlaywrightTest
 * @typedef {{ title: string, file: string, tests: PlaywrightTest[] }} Spec
 * @typedef {{ specs: Spec[], suites?: Suite[] }} Suite
 * @param {{ suites: Suite[] }} report
 * @returns {Counts}
 */
function readPlaywright({ suites }) {
	/** @type {(suite: Suite) => Spec[]} */
	const specsOf = (suite) => [...suite.specs, ...(suite.suites ?? []).flatMap(specsOf)];
	const tests = suites.flatMap(specsOf).flatMap(({ title, file, tests: runs }) =>
		runs.map(({ status, projectName, results }) => ({
			name: `${title} (${file}, ${projectName})${reasonOf(results.map(({ error }) => error?.message ?? ''))}`,
			status
		}))
	);
	const named = (/** @type {RegExp} */ status) =>
		tests.filter((test) => status.test(test.status)).map(({ name }) => name);
	return {
		passed: named(/^expected$/).length,
		failed: named(/^(unexpected|flaky)$/),
		skipped: named(/^skipped$/)
	};
}

/**
 * The beginning of the first error, to stand under the name of a test: whoever has only the end of the output needs it.
 * @param {string[]} messages
 */
function reasonOf([message = '']) {
	if (message === '') return '';
	const lines = stripVTControlCharacters(message).split('\n').slice(0, REASON_LINES);
	return lines.map((line) => `\n\t\t${line.slice(0, REASON_WIDTH)}`).join('');
}

/**
 * @param {string} script
 * @param {string[]} args
 */
async function runNode(script, args) {
	const { code, output } = await run(process.execPath, [script, ...args], { cwd: root });
	if (code !== 0) throw new SetupError(`${output}\n${script} ${args.join(' ')} failed (code ${code}).`);
}

function printResult() {
	const { passed, failed, skipped } = total;
	const isComplete = process.env['CI'] !== 'true' || skipped.length === 0;
	const earlier = process.env['AIRTILL_FAILED_CHECKS'];
	process.exitCode = passed > 0 && failed.length === 0 && isComplete && !earlier ? 0 : 1;

	if (failed.length > 0) console.log(`\nFailed:\n\t${failed.join('\n\t')}`);
	if (passed + failed.length === 0) console.log('\nNo test ran.');
	if (!isComplete) console.log(`\nCI allows no skipped tests:\n\t${skipped.join('\n\t')}`);
	if (earlier) console.log(`\nFailed before the tests, see above: ${earlier}.`);
	const more = skipped.length > 0 ? `, ${skipped.length} skipped` : '';
	console.log(`\n${passed} passed, ${failed.length} failed${more}`);
}
