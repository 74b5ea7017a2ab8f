/**
 * `npm run fuzz -- [--requests 100000] [--database sqlite|postgres] [--seed N]`: as many wild requests as asked for, on
 * each database (tests/api/api/requests/hostile.test.ts). A failure prints the smallest request that shows it, and
 * the seed that makes it again.
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { ensureBuilt, run, SetupError } from '../../src/cli/bootstrap.js';
import { runTool } from '../support/runner/tool.js';

/** @param {string} name @param {string | undefined} text */
function wholeNumber(name, text) {
	if (text !== undefined && !/^[1-9]\d{0,9}$/.test(text))
		throw new SetupError(`--${name} takes a whole number.`);
	return text;
}

await runTool(async () => {
	const { values } = parseArgs({
		options: { requests: { type: 'string' }, database: { type: 'string' }, seed: { type: 'string' } }
	});
	if (values.database !== undefined && !['sqlite', 'postgres'].includes(values.database))
		throw new SetupError('--database takes sqlite or postgres.');
	/** @type {Record<string, string | undefined>} */
	const settings = {
		AIRTILL_FUZZ_REQUESTS: wholeNumber('requests', values.requests) ?? '100000',
		AIRTILL_FUZZ_SEED: wholeNumber('seed', values.seed) ?? String(Date.now() % 2 ** 31),
		AIRTILL_FUZZ_DATABASE: values.database
	};
	await ensureBuilt();
	const { code } = await run(
		process.execPath,
		['node_modules/vitest/vitest.mjs', 'run', '--project=api', 'tests/api/api/requests/hostile.test.ts'],
		{ stdio: 'inherit', env: { ...process.env, ...settings } }
	);
	return code;
});
