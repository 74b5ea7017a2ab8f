#!/usr/bin/env node
/**
 * Starts the command line (`npm run --silent airtill -- COMMAND`). stdout carries only the command's output.
 * Node strips the types of main.ts, so no build is needed.
 */
import module from 'node:module';
import process from 'node:process';
import { compileCache, ensureInstalled, ensureNode, giveUp } from './bootstrap.js';

try {
	await ensureInstalled();
	await ensureNode();
} catch (error) {
	giveUp(error);
}

// Halves the time of a command, most of which is loading code.
module.enableCompileCache(compileCache);
// print() handles a closed reader. Without listeners its error would end the process.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});
const { main } = await import('./main.ts');
process.exitCode = await main(process.argv.slice(2));
