/**
 * What must be true before anything of Airtill can run: packages are installed, the Node in use is new
 * enough, the application is built. Each step looks first and does nothing when there is nothing to do.
 *
 * Plain JavaScript without dependencies, because it runs on the machine's own Node (20, say) in a fresh clone.
 * Everything it says goes to stderr: the command line's stdout belongs to the command's answer.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

/** The project's folder, whatever folder the command was typed in. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

const parentPollMs = 250;

/** Files and folders that decide what a build contains. Those that do not exist are passed over. */
const buildInputs = [
	'src',
	'static',
	'project.inlang',
	'svelte.config.js',
	'vite.config.ts',
	'tsconfig.json',
	'package.json',
	'package-lock.json'
];

/**
 * What is read from package.json and from npm's lock files.
 * @typedef {{ version?: string, optional?: boolean, devOptional?: boolean }} NpmPackage
 * @typedef {{ [kind in 'dependencies' | 'devDependencies' | 'optionalDependencies']?: Record<string, string> }} NpmWishes
 * @typedef {NpmWishes & { engines?: { node?: string }, packages?: Record<string, NpmPackage & NpmWishes> }} NpmFile
 */

/** The machine, not Airtill, has to be put right: the message says how, and no stack trace is shown. */
export class SetupError extends Error {}

/** Installs the packages when npm's own record of what is installed differs from the lock file. */
export async function ensureInstalled({ log = console.error, folder = root } = {}) {
	if (isInstalled(folder)) return;
	log('Installing packages (once; about a minute on a slow line) ...');
	// Not `npm ci`: it refuses a lock file that lacks optional packages for other platforms, which is what npm
	// writes when its registry misses some of them (rollup's, seen with a mirror). --no-save keeps to the lock
	// file and leaves it as it is; --include=dev: building needs all packages, NODE_ENV=production or not.
	const args = ['install', '--no-save', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
	const { code } = await run('npm', args, { cwd: folder, stdio: ['ignore', 2, 2] });
	if (code !== 0) throw new SetupError(`npm install failed (code ${code}); its messages are above.`);
}

/**
 * True when `node_modules` holds what `package.json` and `package-lock.json` ask for, going by npm's own record
 * (`node_modules/.package-lock.json`). npm writes that last, so an interrupted install is seen, and an install
 * done by hand counts.
 * @param {string} folder
 */
export function isInstalled(folder) {
	const manifest = readJson(path.join(folder, 'package.json'));
	const lock = readJson(path.join(folder, 'package-lock.json'));
	const installed = readJson(path.join(folder, 'node_modules/.package-lock.json'));
	if (!installed) return false;
	if (!lock) return true;
	for (const kind of /** @type {const} */ (['dependencies', 'devDependencies', 'optionalDependencies'])) {
		if (JSON.stringify(manifest?.[kind]) !== JSON.stringify(lock.packages?.['']?.[kind])) return false;
	}
	return Object.entries(lock.packages ?? {}).every(([place, wanted]) => {
		if (place === '') return true;
		const present = installed.packages?.[place];
		// Optional packages for other platforms are in the lock file and never installed.
		return present ? present.version === wanted.version : wanted.optional || wanted.devOptional;
	});
}

/**
 * Returns when this process runs on a Node that is new enough. Otherwise the same command is run by the Node
 * that npm installed with the packages, and this process ends as that one ended.
 */
export async function ensureNode() {
	const needed = neededNode();
	if (isAtLeast(process.versions.node, needed)) return;

	const pinned = path.join(root, 'node_modules/.bin/node');
	const version = existsSync(pinned)
		? spawnSync(pinned, ['-p', 'process.versions.node'], { encoding: 'utf8' }).stdout?.trim()
		: '';
	if (!version || !isAtLeast(version, needed)) {
		throw new SetupError(
			`Airtill needs Node ${needed} or newer; this is Node ${process.versions.node}.\n` +
				'It brings its own Node as an npm package, but the install script of that package did not run\n' +
				'(npm was told to ignore scripts). Run this once in this folder, then try again:\n\n' +
				'\tnpm rebuild node --ignore-scripts=false --foreground-scripts\n\n' +
				'or install a newer Node from https://nodejs.org.'
		);
	}
	const { code } = await run(pinned, [...process.execArgv, ...process.argv.slice(1)], {
		stdio: 'inherit',
		endsThisProcess: false
	});
	process.exit(code);
}

/** Builds the application when something that goes into a build has changed since the last one. */
export async function ensureBuilt({ log = console.error } = {}) {
	const stampFile = path.join(root, 'build/.airtill-build');
	const stamp = stampOf(root, buildInputs);
	if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return;

	log('Building (after a change; about half a minute) ...');
	const { code, output } = await run(process.execPath, ['node_modules/vite/bin/vite.js', 'build'], {
		cwd: root
	});
	if (code !== 0) throw new SetupError(`${output}\nThe build failed (code ${code}).`);
	// Taken before the build: what was edited meanwhile is built next time.
	writeFileSync(stampFile, stamp);
}

/**
 * A fingerprint (SHA-256, hex) of the names and contents of all files under `inputs`.
 * @param {string} folder
 * @param {string[]} inputs paths relative to `folder`
 */
export function stampOf(folder, inputs) {
	const hash = createHash('sha256');
	for (const input of inputs) {
		for (const file of filesUnder(path.join(folder, input))) {
			const content = readFileSync(file);
			hash.update(`${path.relative(folder, file)}\0${content.length}\0`).update(content);
		}
	}
	return hash.digest('hex');
}

/** Files that a build generates from its inputs (see .gitignore). */
const GENERATED = /[\\/](i18n[\\/]generated|project\.inlang[\\/](?!settings\.json))/;

/**
 * @param {string} place a file, a folder or nothing
 * @returns {string[]} the files below it, in an order that does not depend on the machine
 */
function filesUnder(place) {
	if (!existsSync(place) || GENERATED.test(place)) return [];
	if (!statSync(place).isDirectory()) return [place];
	return readdirSync(place)
		.sort()
		.flatMap((name) => filesUnder(path.join(place, name)));
}

/** The lowest version that `engines` in package.json allows, as in `22.19`. */
function neededNode() {
	return (readJson(path.join(root, 'package.json'))?.engines?.node ?? '').replace(/[^\d.]/g, '');
}

/**
 * @param {string} version
 * @param {string} needed as many parts as matter: `22.19`
 */
export function isAtLeast(version, needed) {
	const have = version.split('.').map(Number);
	for (const [index, wanted] of needed.split('.').map(Number).entries()) {
		const part = have[index] ?? 0;
		if (part !== wanted) return part > wanted;
	}
	return true;
}

/**
 * Runs a program to its end. SIGINT and SIGTERM are passed on to it, and then end this process as well
 * (unless `endsThisProcess` is false: then the caller decides). Output is collected when `stdio` is not given.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions & { endsThisProcess?: boolean }} [options]
 * @returns {Promise<{ code: number, output: string }>} a program ended by a signal has the shell's code, 128 + n
 */
export function run(command, args, { endsThisProcess = true, ...options } = {}) {
	return new Promise((resolve, reject) => {
		const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
		let output = '';
		let interrupted = 0;
		/** @param {string} text */
		const collect = (text) => (output += text);
		child.stdout?.setEncoding('utf8').on('data', collect);
		child.stderr?.setEncoding('utf8').on('data', collect);

		/** @param {NodeJS.Signals} signal */
		const passOn = (signal) => {
			interrupted = constants.signals[signal];
			child.kill(signal);
		};
		process.on('SIGINT', passOn).on('SIGTERM', passOn);
		const settle = () => process.off('SIGINT', passOn).off('SIGTERM', passOn);

		child.on('error', (error) => {
			settle();
			reject(new SetupError(`${command} could not be started: ${error.message}`));
		});
		child.on('close', (code, signal) => {
			settle();
			if (interrupted && endsThisProcess) process.exit(128 + interrupted);
			resolve({ code: code ?? 128 + (signal ? constants.signals[signal] : 0), output });
		});
	});
}

/**
 * Ends this process, as SIGTERM does, when the shell in which npm runs it is gone. npm passes a SIGTERM of its own
 * to that shell only, and what the shell had started would go on: a server that nobody can find.
 */
export function endWithNpm() {
	if (!process.env['npm_lifecycle_event']) return;
	const parent = process.ppid;
	const look = () => {
		if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM');
	};
	setInterval(look, parentPollMs).unref();
}

/**
 * Says what went wrong and ends the process: a sentence for a SetupError, the stack for a bug.
 * @param {unknown} error
 * @returns {never}
 */
export function giveUp(error) {
	console.error(error instanceof SetupError ? error.message : error);
	process.exit(1);
}

/**
 * @param {string} file package.json, or a lock file of npm
 * @returns {NpmFile | null} null when there is no such file or it is not JSON
 */
function readJson(file) {
	try {
		return JSON.parse(readFileSync(file, 'utf8'));
	} catch {
		return null;
	}
}
