/**
 * `npm test`: prepares a fresh clone, runs the tests and prints `N passed, N failed` (and `, N skipped`) as its last
 * line. Exits with 0 only if tests ran and none failed. With CI=true a skipped test is a failure.
 *
 *   npm test                       each rule once: most API tests on SQLite, browser tests on one set-up
 *   npm test -- --all              every combination of tests and databases, as CI does
 *   npm test -- api refunds        one part (unit, api, gateways, e2e), then part of a file's path or of a test's title
 *
 * AIRTILL_FAILED_CHECKS names checks that failed before the tests (see .ci/run). It is printed beside the result.
 */
import { mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {
	SetupError,
	endWithNpm,
	ensureBuilt,
	ensureInstalled,
	ensureNode,
	root,
	run
} from '../../src/cli/bootstrap.js';
import { ensureBrowser } from './runner/browser.js';
import { ensureEngines } from './runner/engines.js';
import { ensureGatewayPrograms } from './runner/gateway-programs.js';
import { useMemoryFolder } from './runner/memory-folder.js';
import { ensureMessages } from './runner/messages.js';
import { readPlaywright, readVitest } from './runner/reports.js';
import { ensureSamplePrograms } from './runner/sample-programs.js';

const parts = ['unit', 'api', 'gateways', 'e2e'];
const runnerLimitMs = 60 * 60_000;
const slowestFiles = 10;
const reports = path.join(root, 'tests/output');

const [part = '', ...words] = process.argv.slice(2).filter((word) => word !== '--all');
const filter = words.join(' ');
const isWanted = (/** @type {string} */ name) => part === '' || part === name;
if (process.argv.includes('--all')) process.env['AIRTILL_TEST_ALL'] = '1';

/** @type {import('./runner/reports.js').Counts} */
const total = { passed: 0, failed: [], skipped: [], files: [] };
/** @type {string[]} printed above the last line */
const remarks = [];

endWithNpm();
try {
	if (part !== '' && !parts.includes(part))
		throw new SetupError('Usage: npm test -- [--all] [unit|api|gateways|e2e [filter]]');
	await ensureInstalled({ withDev: true });
	await ensureNode();
	process.chdir(root);
	mkdirSync(reports, { recursive: true });
	useMemoryFolder();
	await node('node_modules/@sveltejs/kit/svelte-kit.js', ['sync']);
	const built = part === 'unit' ? false : ensureBuilt();
	// The build goes on beside the installations.
	if (isWanted('api')) ensureSamplePrograms();
	if (isWanted('e2e')) ensureEngines();
	const suites = ['unit', 'api', 'gateways'].filter((name) => isWanted(name) && canRun(name));
	await ensureMessages({ areNew: await built });
	// Together: the tests of gateways wait most of the time.
	await runVitest(suites);
	if (isWanted('e2e')) await runPlaywright();
} catch (error) {
	total.failed.push(
		error instanceof SetupError ? error.message : String(error instanceof Error ? error.stack : error)
	);
}

printResult();

/**
 * Installs the real FreeRADIUS and openNDS for tests/gateways, or reports these tests as skipped with the reason.
 * @param {string} suite
 */
function canRun(suite) {
	const missing = suite === 'gateways' ? ensureGatewayPrograms() : null;
	if (missing === null) return true;
	if (part === 'gateways') throw new SetupError(missing);
	console.error(missing);
	total.skipped.push(`tests/gateways: ${missing}`);
	return false;
}

/** @param {string[]} suites folders of tests/ */
async function runVitest(suites) {
	if (suites.length === 0) return;
	const report = path.join(reports, `vitest-${suites.join('-')}.json`);
	const files = filter === '' ? [] : matchingFiles();
	const isTitle = filter !== '' && files.length === 0;
	const read = (/** @type {string} */ text) => readVitest(text, isTitle);
	await runTests('vitest', report, read, 'node_modules/vitest/vitest.mjs', [
		'run',
		'--reporter=default',
		'--reporter=json',
		`--outputFile.json=${report}`,
		...(files.length > 0 ? files : suites.map((name) => `tests/${name}/`)),
		...(isTitle ? ['-t', filter] : [])
	]);
}

async function runPlaywright() {
	// The browser comes last: without one the other tests have still run.
	const env = { AIRTILL_CHROMIUM: await ensureBrowser() };
	const report = path.join(reports, 'e2e.json');
	const args = ['test', '--config=tests/e2e/playwright.config.ts'];
	if (filter) args.push(...(matchingFiles().length > 0 ? [filter] : ['-g', filter]));
	await runTests('playwright', report, readPlaywright, 'node_modules/@playwright/test/cli.js', args, env);
}

/**
 * Runs a test runner and adds its report to the total. A runner that crashed, or failed without a failed test,
 * counts as one failure.
 * @param {string} name
 * @param {string} report path of the report that the runner writes
 * @param {(text: string) => import('./runner/reports.js').Counts} read
 * @param {string} script
 * @param {string[]} args
 * @param {Record<string, string>} [env]
 */
async function runTests(name, report, read, script, args, env = {}) {
	// A runner that crashes must not be judged by the report of an earlier run.
	rmSync(report, { force: true });
	const { code } = await run(process.execPath, [script, ...args], {
		stdio: ['ignore', 'inherit', 'inherit'],
		env: { ...process.env, ...env },
		timeout: runnerLimitMs
	});
	try {
		const counts = read(readFileSync(report, 'utf8'));
		total.passed += counts.passed;
		total.failed.push(...counts.failed);
		total.skipped.push(...counts.skipped);
		total.files.push(...counts.files);
		if (code !== 0 && counts.failed.length === 0)
			total.failed.push(`${name} exited with code ${code} although no test failed. See its output above.`);
	} catch (error) {
		total.failed.push(`${name} crashed (code ${code}) without a valid report: ${String(error)}.`);
	}
}

/**
 * @param {string} script
 * @param {string[]} args
 */
async function node(script, args) {
	const { code, output } = await run(process.execPath, [script, ...args], { cwd: root });
	if (code !== 0) throw new SetupError(`${output}\n${script} ${args.join(' ')} failed (code ${code}).`);
}

/** The test files of the part with the filter in their path. If there are none, it filters titles. */
function matchingFiles() {
	const files = readdirSync(path.join(root, 'tests', part), { recursive: true, encoding: 'utf8' });
	return files
		.map((file) => path.join('tests', part, file))
		.filter((file) => /\.(test|spec)\.ts$/.test(file) && file.includes(filter));
}

function printSlowestFiles() {
	const slowest = total.files.sort((a, b) => b.ms - a.ms).slice(0, slowestFiles);
	if (part !== '' || slowest.length === 0) return;
	console.log('\nSlowest files:');
	for (const { file, ms } of slowest) {
		console.log(
			`${(ms / 1000).toFixed(1).padStart(7)} s  ${path.isAbsolute(file) ? path.relative(root, file) : `tests/e2e/${file}`}`
		);
	}
}

function printResult() {
	const { passed, failed, skipped } = total;
	const isComplete = process.env['CI'] !== 'true' || skipped.length === 0;
	const earlier = process.env['AIRTILL_FAILED_CHECKS'];

	if (failed.length > 0) remarks.push(`Failed:\n\t${failed.join('\n\t')}`);
	if (passed + failed.length === 0) remarks.push('No test ran.');
	if (!isComplete) remarks.push(`CI allows no skipped tests:\n\t${skipped.join('\n\t')}`);
	if (earlier) remarks.push(`Failed before the tests, see above: ${earlier}.`);
	process.exitCode = passed > 0 && failed.length === 0 && isComplete && !earlier ? 0 : 1;

	printSlowestFiles();
	for (const remark of remarks) console.log(`\n${remark}`);
	console.log(
		`\n${passed} passed, ${failed.length} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`
	);
}
