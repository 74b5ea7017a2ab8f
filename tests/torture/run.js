/**
 * `npm run torture -- [--kills 50] [--database sqlite|postgres] [--operator mtn] [--seed N]`: the built server under a
 * storm of purchases, killed that many times. The last line is JSON; the exit code is 0 only when nothing was lost,
 * doubled or wrong.
 */
import process from 'node:process';
import { ensureBuilt, run, SetupError } from '../../src/cli/bootstrap.js';
import { runTool } from '../support/runner/tool.js';

await runTool(async () => {
	await ensureBuilt();
	const { code } = await run(process.execPath, ['tests/torture/main.ts', ...process.argv.slice(2)], {
		stdio: 'inherit'
	});
	if (code === null) throw new SetupError('The torture was ended from outside.');
	return code;
});
