/**
 * `npm test`: everything from a fresh clone to a verdict. The last line is `N passed, N failed` (and how many
 * were skipped, if any). The exit code is 0 only when something ran and nothing failed; with CI=true nothing
 * may be skipped either. A part of it: `npm test -- unit|api|gateways|e2e [part of a file's path, or of a test's title]`.
 *
 * AIRTILL_FAILED_CHECKS names checks that failed before (see .ci/run): they are repeated next to the verdict.
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
import { ensureBrowser } from './browser.js';
import { ensureEngines } from './engines.js';
import { ensureGatewayPrograms } from './gateway-programs.js';
import { readPlaywright, readVitest } from './reports.js';

const parts = ['unit', 'api', 'gateways', 'e2e'];
const runnerLimitMs = 40 * 60_000;
const reports = path.join(root, 'tests/output');

const [part = '', ...words] = process.argv.slice(2);
const filter = words.join(' ');
const isWanted = (/** @type {string} */ name) => part === '' || part === name;

/** @type {import('./reports.js').Counts} */
const total = { passed: 0, failed: 0, skipped: [] };
/** @type {string[]} what to say above the last line */
const remarks = [];

endWithNpm();
try {
	if (part !== '' && !parts.includes(part))
		throw new SetupError('Usage: npm test -- [unit|api|gateways|e2e [filter]]');
	await ensureInstalled();
	await ensureNode();
	process.chdir(root);
	mkdirSync(reports, { recursive: true });
	await node('node_modules/@sveltejs/kit/svelte-kit.js', ['sync']);
	if (part !== 'unit') await ensureBuilt();

	await runVitest(['unit', 'api'].filter(isWanted));
	if (isWanted('gateways')) await runGateways();
	if (isWanted('e2e')) await runPlaywright();
} catch (error) {
	total.failed++;
	remarks.push(
		error instanceof SetupError ? error.message : String(error instanceof Error ? error.stack : error)
	);
}

verdict();

/** With the programs that real gateways run; where they cannot be had, they are skipped with the reason. */
async function runGateways() {
	const missing = ensureGatewayPrograms();
	if (missing === null) return runVitest(['gateways']);
	if (part === 'gateways') throw new SetupError(missing);
	console.error(missing);
	total.skipped.push(`tests/gateways: ${missing}`);
}

/** @param {string[]} projects */
async function runVitest(projects) {
	if (projects.length === 0) return;
	const report = path.join(reports, `vitest-${projects.join('-')}.json`);
	const isTitle = filter !== '' && !matchesFile();
	await judge('vitest', report, (text) => readVitest(text, isTitle), 'node_modules/vitest/vitest.mjs', [
		'run',
		...projects.map((name) => `--project=${name}`),
		'--reporter=default',
		'--reporter=json',
		`--outputFile.json=${report}`,
		...(isTitle ? ['-t', filter] : filter ? [filter] : [])
	]);
}

async function runPlaywright() {
	// Only now: where no browser can be had, the other tests have run.
	const env = { AIRTILL_CHROMIUM: await ensureBrowser() };
	ensureEngines();
	const report = path.join(reports, 'e2e.json');
	const args = ['test', '--config=tests/e2e/playwright.config.ts'];
	if (filter) args.push(...(matchesFile() ? [filter] : ['-g', filter]));
	await judge('playwright', report, readPlaywright, 'node_modules/@playwright/test/cli.js', args, env);
}

/**
 * Runs a test runner and adds its report to the total. One that crashed, or failed without a failed test (an
 * error outside of the tests, or no test at all), counts as one failure.
 * @param {string} name
 * @param {string} report the file that it writes
 * @param {(text: string) => import('./reports.js').Counts} read
 * @param {string} script
 * @param {string[]} args
 * @param {Record<string, string>} [env]
 */
async function judge(name, report, read, script, args, env = {}) {
	// Otherwise the report of an earlier run would speak for a runner that crashed.
	rmSync(report, { force: true });
	const { code } = await run(process.execPath, [script, ...args], {
		stdio: ['ignore', 'inherit', 'inherit'],
		env: { ...process.env, ...env },
		timeout: runnerLimitMs
	});
	try {
		const counts = read(readFileSync(report, 'utf8'));
		total.passed += counts.passed;
		total.failed += counts.failed;
		total.skipped.push(...counts.skipped);
		if (code !== 0 && counts.failed === 0) {
			total.failed++;
			remarks.push(`${name} ended with code ${code} although no test failed: see its output above.`);
		}
	} catch (error) {
		total.failed++;
		remarks.push(`${name} crashed (code ${code}): it left no valid report (${String(error)}).`);
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

/** Whether the filter is part of the path of a test file of the wanted part; otherwise it is meant for titles. */
function matchesFile() {
	const files = readdirSync(path.join(root, 'tests', part), { recursive: true, encoding: 'utf8' });
	return files.some(
		(file) => /\.(test|spec)\.ts$/.test(file) && path.join('tests', part, file).includes(filter)
	);
}

function verdict() {
	const { passed, failed, skipped } = total;
	const isComplete = process.env['CI'] !== 'true' || skipped.length === 0;
	const earlier = process.env['AIRTILL_FAILED_CHECKS'];

	if (passed + failed === 0) remarks.push('No test ran.');
	if (!isComplete) remarks.push(`In CI nothing may be skipped, and these were:\n\t${skipped.join('\n\t')}`);
	if (earlier) remarks.push(`Failed before the tests, see far above: ${earlier}.`);
	process.exitCode = passed > 0 && failed === 0 && isComplete && !earlier ? 0 : 1;

	for (const remark of remarks) console.log(`\n${remark}`);
	console.log(
		`\n${passed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`
	);
}
