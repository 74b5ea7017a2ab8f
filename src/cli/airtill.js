/**
 * Launcher of the command line (`npm run --silent airtill -- COMMAND`). stdout carries nothing but what the
 * command itself prints. Node runs main.ts as it is (it strips the types), so no build is needed.
 */
import process from 'node:process';
import { ensureInstalled, ensureNode, giveUp } from './bootstrap.js';

try {
	await ensureInstalled();
	await ensureNode();
} catch (error) {
	giveUp(error);
}

const { main } = await import('./main.ts');
process.exitCode = await main(process.argv.slice(2));
