import process from 'node:process';
import { endWithNpm, ensureInstalled, ensureNode, giveUp, root } from '../../../src/cli/bootstrap.js';

/**
 * Runs a tool of the tests from the folder of the project, with Node and packages as they must be; ends with its code.
 * @param {() => Promise<number | null>} work
 */
export async function runTool(work) {
	endWithNpm();
	try {
		await ensureInstalled({ withDev: true });
		await ensureNode();
		process.chdir(root);
		process.exitCode = await work();
	} catch (error) {
		giveUp(error);
	}
}
