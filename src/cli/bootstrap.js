/**
 * Prepares a clone to run. Skips each step that is already done.
 * Plain JavaScript without dependencies, because it runs on the machine's own Node (20, for example).
 * Messages go to stderr, because stdout carries only the command's output.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

/** Independent of the working directory. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Node keeps compiled code here between starts. */
export const compileCache = path.join(root, 'node_modules/.cache/airtill');

const parentPollMs = 250;

/** Inputs of a build. Missing ones are skipped. */
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
 * The parts of package.json and npm's lock files that are used here.
 * @typedef {{ version?: string, dev?: boolean, optional?: boolean, devOptional?: boolean }} NpmPackage
 * @typedef {{ [kind in 'dependencies' | 'devDependencies' | 'optionalDependencies']?: Record<string, string> }} NpmWishes
 * @typedef {NpmWishes & { engines?: { node?: string }, packages?: Record<string, NpmPackage & NpmWishes> }} NpmFile
 */

/** A problem of the machine, not of Airtill. The message says how to fix it; no stack trace is printed. */
export class SetupError extends Error {}

/** @param {{ withDev?: boolean }} [options] withDev: also the packages that only tests and checks need */
export async function ensureInstalled({ withDev = false } = {}) {
	if (isInstalled(root, { withDev })) return;
	console.error('Installing packages (once; about a minute on a slow line) ...');
	const args = [
		'ci',
		withDev ? '--include=dev' : '--omit=dev',
		'--no-audit',
		'--no-fund',
		'--loglevel=error'
	];
	const { code } = await run('npm', args, { cwd: root, stdio: ['ignore', 2, 2] });
	if (code !== 0) throw new SetupError(`npm ci failed (code ${code}). See its messages above.`);
}

/**
 * Compares npm's record of the installed packages (`node_modules/.package-lock.json`) with `package.json` and
 * `package-lock.json`. npm writes the record last, so an interrupted install counts as not installed.
 * @param {string} folder
 * @param {{ withDev?: boolean }} [options]
 */
export function isInstalled(folder, { withDev = true } = {}) {
	const manifest = readJson(path.join(folder, 'package.json'));
	const lock = readJson(path.join(folder, 'package-lock.json'));
	const installed = readJson(path.join(folder, 'node_modules/.package-lock.json'));
	if (!installed) return false;
	if (!lock) return true;
	for (const kind of /** @type {const} */ (['dependencies', 'devDependencies', 'optionalDependencies'])) {
		if (JSON.stringify(manifest?.[kind]) !== JSON.stringify(lock.packages?.['']?.[kind])) return false;
	}
	return Object.entries(lock.packages ?? {}).every(([location, wanted]) => {
		if (location === '') return true;
		const present = installed.packages?.[location];
		if (present) return present.version === wanted.version;
		// Optional packages for other platforms are in the lock file but not installed.
		return wanted.optional || wanted.devOptional || (wanted.dev && !withDev);
	});
}

/** Returns on a new enough Node. Otherwise reruns the command with the npm package `node` and exits. */
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
				'Airtill includes a Node as an npm package, but the install script of that package did not run\n' +
				'(npm ignores scripts here). Run this once in this folder, then try again:\n\n' +
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

/** @returns {Promise<boolean>} whether it has built; false if the build was up to date */
export async function ensureBuilt() {
	const stampFile = path.join(root, 'build/.airtill-build');
	const stamp = stampOf(root, buildInputs);
	if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return false;

	console.error('Building (after a change; about half a minute) ...');
	const { code, output } = await run(process.execPath, ['node_modules/vite/bin/vite.js', 'build'], {
		cwd: root
	});
	if (code !== 0) throw new SetupError(`${output}\nThe build failed (code ${code}).`);
	// The stamp predates the build, so that a change during the build causes another one.
	writeFileSync(stampFile, stamp);
	return true;
}

/**
 * Returns a fingerprint (SHA-256, hex) of the names and contents of all files under `inputs`.
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

/** Builds write these files among the sources (see .gitignore). */
const MADE_BY_BUILDS = /[\\/](i18n[\\/]generated|project\.inlang[\\/](?!settings\.json))/;

/**
 * @param {string} root a file, a folder or nothing
 * @returns {string[]} the files below it, in a stable order
 */
function filesUnder(root) {
	if (!existsSync(root) || MADE_BY_BUILDS.test(root)) return [];
	if (!statSync(root).isDirectory()) return [root];
	return readdirSync(root)
		.sort()
		.flatMap((name) => filesUnder(path.join(root, name)));
}

/** Returns the lowest version that `engines` in package.json allows, such as `22.19`. */
function neededNode() {
	return (readJson(path.join(root, 'package.json'))?.engines?.node ?? '').replace(/[^\d.]/g, '');
}

/**
 * @param {string} version
 * @param {string} needed `22.19`, for example
 */
export function isAtLeast(version, needed) {
	return version.localeCompare(needed, 'en', { numeric: true }) >= 0;
}

/**
 * Runs a program to its end. Forwards SIGINT and SIGTERM and then exits, unless `endsThisProcess` is false.
 * Collects the output unless `stdio` is given.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions & { endsThisProcess?: boolean }} [options]
 * @returns {Promise<{ code: number, output: string }>} code 128 + n after signal n, as in a shell
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
 * Sends SIGTERM to this process when npm's shell ends.
 * npm forwards SIGTERM only to that shell, so the server would keep running without a parent.
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
 * Prints the error (only the message of a SetupError) and exits with code 1.
 * @param {unknown} error
 * @returns {never}
 */
export function giveUp(error) {
	console.error(error instanceof SetupError ? error.message : error);
	process.exit(1);
}

/**
 * @param {string} file package.json, or a lock file of npm
 * @returns {NpmFile | null} null if the file does not exist or is not JSON
 */
function readJson(file) {
	try {
		return JSON.parse(readFileSync(file, 'utf8'));
	} catch {
		return null;
	}
}
