/**
 * `npm run fuzz -- [--requests 100000] [--database sqlite|postgres] [--seed N]`: as many wild requests as asked for, on
 * each database (tests/api/api/requests/hostile.test.ts). A failure prints the smallest request that shows it, and
 * the seed that makes it again.
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { endWithNpm, ensureBuilt, giveUp, root, run, SetupError } from '../../src/cli/bootstrap.js';

function wholeNumber(name: string, text: string | undefined): string | undefined {
	if (text !== undefined && !/^[1-9]\d{0,9}$/.test(text))
		throw new SetupError(`--${name} takes a whole number.`);
	return text;
}

endWithNpm();
try {
	const { values } = parseArgs({
		options: { requests: { type: 'string' }, database: { type: 'string' }, seed: { type: 'string' } }
	});
	if (values.database !== undefined && !['sqlite', 'postgres'].includes(values.database))
		throw new SetupError('--database takes sqlite or postgres.');
	const settings = {
		AIRTILL_FUZZ_REQUESTS: wholeNumber('requests', values.requests) ?? '100000',
		AIRTILL_FUZZ_SEED: wholeNumber('seed', values.seed) ?? String(Date.now() % 2 ** 31),
		AIRTILL_FUZZ_DATABASE: values.database
	};
	process.chdir(root);
	await ensureBuilt();
	const { code } = await run(
		process.execPath,
		['node_modules/vitest/vitest.mjs', 'run', '--project=api', 'tests/api/api/requests/hostile.test.ts'],
		{ stdio: 'inherit', env: { ...process.env, ...settings } }
	);
	process.exitCode = code;
} catch (error) {
	giveUp(error);
}
