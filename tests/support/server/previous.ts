/** The version before this one: the first parent of the commit that is checked out. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { isInstalled, run } from '../../../src/cli/bootstrap.js';
import { root } from './server.ts';

const PREVIOUS = 'HEAD^';
/** Otherwise git reads no repository of another user. */
const ANY_OWNER = ['-c', 'safe.directory=*'];

/** False in a clone without history. */
export const hasPrevious = (): boolean =>
	spawnSync('git', [...ANY_OWNER, 'rev-parse', '--verify', '--quiet', PREVIOUS], { cwd: root }).status === 0;

/** Builds it in a temporary folder. @returns the folder */
export async function buildPrevious(): Promise<string> {
	const folder = mkdtempSync(path.join(tmpdir(), 'airtill-previous-'));
	process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
	await mustRun(
		'sh',
		['-c', 'git -c "safe.directory=*" archive "$1" | tar -x -C "$2"', 'sh', PREVIOUS, folder],
		root
	);
	const packages = path.join(folder, 'node_modules');
	symlinkSync(path.join(root, 'node_modules'), packages);
	if (!isInstalled(folder)) {
		rmSync(packages);
		await mustRun('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund'], folder);
	}
	await mustRun(process.execPath, ['node_modules/vite/bin/vite.js', 'build'], folder);
	return folder;
}

async function mustRun(command: string, args: string[], cwd: string): Promise<void> {
	// Not the environment of the tests, in which Vite builds for development.
	const env = { ...process.env, NODE_ENV: 'production', VITEST: undefined };
	const { code, output } = await run(command, args, { cwd, env });
	if (code !== 0) throw new Error(`${output}\n${command} ${args.join(' ')} failed (code ${code}).`);
}
