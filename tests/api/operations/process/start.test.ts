/** The commands of the guides that start the server, and the folder in which it then keeps its data. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually, SECRET } from '../../../support/server/fixture.ts';
import { freePort } from '../../../support/server/ports.ts';
import { root } from '../../../support/server/server.ts';

const ENTRY = path.join(root, 'src/server.js');

let folder = '';
let url = '';
let started: ChildProcess | null = null;

beforeEach(() => {
	folder = mkdtempSync(path.join(tmpdir(), 'airtill-start-'));
});

afterEach(async () => {
	await stop();
	rmSync(folder, { recursive: true, force: true });
});

const serves = async () => (await fetch(`${url}/healthz`).catch(() => null))?.status === 200;

/** @returns what it printed to stderr, once it serves or has ended */
async function start(command: readonly string[], cwd: string, env: Record<string, string>): Promise<string> {
	const port = await freePort();
	url = `http://127.0.0.1:${port}`;
	const [program = '', ...args] = command;
	const child = spawn(program, args, {
		cwd,
		env: {
			...{ PATH: process.env['PATH'] ?? '', HOME: folder, HOST: '127.0.0.1', PORT: String(port) },
			...{ AIRTILL_SECRET: SECRET, AIRTILL_LOG_LEVEL: 'warn', ...env }
		},
		stdio: ['ignore', 'ignore', 'pipe']
	});
	started = child;
	let stderr = '';
	child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
	await eventually('it serves or ends', async () => child.exitCode !== null || (await serves()));
	return stderr;
}

/** Only the process that was started gets the signal. */
async function stop(): Promise<void> {
	if (started?.exitCode === null) {
		const gone = once(started, 'exit');
		started.kill('SIGTERM');
		await gone;
	}
	started = null;
	await eventually('nothing serves any more', async () => !(await serves()));
}

/** The lines of a guide that start the server. */
const commandsIn = (guide: string) =>
	readFileSync(path.join(root, 'src/docs', guide), 'utf8').match(/^\S+ .*src\/server\.js$/gm) ?? [];

describe('SIGTERM stops a server that was started', () => {
	const guides = ['install.md', 'go-live.md'].flatMap((guide) => commandsIn(guide));
	const commands = [...guides, 'npx node src/server.js', 'npm exec -- node src/server.js'];

	it.each([...new Set(commands)])('by "%s"', async (command) => {
		const data = { DATA_DIR: path.join(folder, 'data'), DATABASE_URL: `file:${folder}/airtill.db` };
		expect(guides).toHaveLength(2);
		await start(['sh', '-c', `exec ${command}`], root, data);
		expect(await serves()).toBe(true);
		await stop();
	});
});

describe('without DATABASE_URL', () => {
	const former = () => path.join(folder, 'data/airtill.db');
	const startIn = (data?: string) =>
		start([process.execPath, ENTRY], folder, data === undefined ? {} : { DATA_DIR: data });

	it.each([
		[undefined, 'data'],
		['./elsewhere', 'elsewhere'],
		['elsewhere/', 'elsewhere']
	])('the database is in DATA_DIR: %s', async (given, expected) => {
		expect(await startIn(given)).toBe('');
		expect(existsSync(path.join(folder, expected, 'airtill.db'))).toBe(true);
		expect(existsSync(former())).toBe(expected === 'data');
	});

	it('a database where earlier versions kept it is not replaced by an empty one in silence', async () => {
		mkdirSync(path.dirname(former()));
		writeFileSync(former(), 'rows');
		const moved = path.join(folder, 'moved');
		const refusal = await startIn(moved);
		expect(refusal).toContain(
			'DATABASE_URL: there is no database in DATA_DIR yet, but one at ./data/airtill.db.'
		);
		expect(refusal).toContain('set DATABASE_URL=file:./data/airtill.db.');
		expect(started?.exitCode).toBe(1);
		expect([existsSync(moved), readFileSync(former(), 'utf8')]).toEqual([false, 'rows']);
		// The administrator has decided.
		const wanted = { DATA_DIR: moved, DATABASE_URL: `file:${moved}/airtill.db` };
		await start([process.execPath, ENTRY], folder, wanted);
		expect(await serves()).toBe(true);
		await stop();
		expect(await startIn(moved)).toBe('');
		expect(await serves()).toBe(true);
	});
});
