/**
 * Checks the packages of an installation for known vulnerabilities. Fails on those that are high or critical. Some
 * registries and networks offer no audit: then it prints that nothing was checked, and does not fail.
 */
import { spawnSync } from 'node:child_process';
import process from 'node:process';

const say = (line) => process.stdout.write(`${line}\n`);
const TIMEOUT_MS = 60_000;

const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], {
	encoding: 'utf8',
	timeout: TIMEOUT_MS
});
let report = {};
try {
	report = JSON.parse(stdout);
} catch {
	// No answer in time.
}
const found = report.metadata?.vulnerabilities;
if (found) {
	say(`dependency audit: ${found.high} high, ${found.critical} critical, ${found.total} in all`);
	for (const { name, severity } of Object.values(report.vulnerabilities)) say(`  ${severity}: ${name}`);
	process.exitCode = found.high + found.critical > 0 ? 1 : 0;
} else {
	say(`dependency audit: NOT DONE, nothing was checked (${report.message ?? 'the registry did not answer'})`);
}
