/**
 * `npm run torture -- [--kills 50] [--database sqlite|postgres] [--operator mtn] [--seed N]`: the built server under a
 * storm of purchases, killed that many times. The last line is JSON; the exit code is 0 only when nothing was lost,
 * doubled or wrong.
 */
import process from 'node:process';
import {
	SetupError,
	endWithNpm,
	ensureBuilt,
	ensureInstalled,
	ensureNode,
	giveUp,
	root,
	run
} from '../../src/cli/bootstrap.js';

endWithNpm();
try {
	await ensureInstalled({ withDev: true });
	await ensureNode();
	process.chdir(root);
	await ensureBuilt();
	const { code } = await run(process.execPath, ['tests/torture/main.ts', ...process.argv.slice(2)], {
		stdio: 'inherit'
	});
	if (code === null) throw new SetupError('The torture was ended from outside.');
	process.exitCode = code;
} catch (error) {
	giveUp(error);
}
