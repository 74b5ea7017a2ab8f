/**
 * The built server as a child process, with a data folder, a database and a clock of its own. It sees none of
 * the machine's environment but PATH, HOME and TZ, so a test means the same everywhere.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '#lib/server/db/database.ts';
import { freePort } from './ports.ts';
import { SCHEMA, createDatabaseOn } from '../database/postgres.ts';

export const root = fileURLToPath(new URL('../../..', import.meta.url));
export const clock = path.join(root, 'tests/support/server/movable-clock.js');

const readyLimitMs = 90_000;
const readyPollMs = 25;
const stopLimitMs = 10_000;
const clockLimitMs = 10_000;

// Servers end with the tests. (If those are killed, the closed IPC channel ends them: movable-clock.js.)
const running = new Set<ChildProcess>();
process.on('exit', () => {
	for (const child of running) child.kill('SIGKILL');
});

/** A young generation that starts with its full size: an eighth of the CPU of a start went into enlarging it. */
const NODE_OPTIONS = ['--min-semi-space-size=16'];

export interface ServerOptions {
	/**
	 * `sqlite` (a file in the data folder) is the default; `postgres` is a new database on the api project's
	 * PostgreSQL; anything else is a URL, which is how browser tests name theirs. The first two have the schema.
	 */
	database?: string;
	/** On top of the standard environment; wins over it. */
	env?: Record<string, string>;
	/** Flags of Node. */
	flags?: readonly string[];
	/** Folder of another version, which is built. */
	version?: string;
	/** A folder that outlives the server; otherwise a temporary one is made and removed. */
	dataDir?: string;
	port?: number;
	/** Another machine, see namespaces.ts: what its command lines begin with, its address, and a request from there. */
	on?: {
		inside: readonly string[];
		host: string;
		answers(url: string): Promise<boolean>;
		/** What it prints does not arrive here. */
		isSilent?: true;
	};
}

export interface TestServer {
	/** `http://127.0.0.1:<port>`, without a slash at the end. */
	readonly url: string;
	readonly port: number;
	readonly dataDir: string;
	readonly databaseUrl: string;
	readonly env: Record<string, string>;
	readonly pid: number;
	/** Everything printed so far, over all restarts. */
	stdout(): string;
	stderr(): string;
	/** Sends the signal and answers when the process is gone; fails if it had to be forced. Default: SIGKILL, the crash. */
	kill(signal?: NodeJS.Signals): Promise<void>;
	/** Ends it in an orderly way (by force after 10 s) and removes the temporary folder. */
	stop(): Promise<void>;
	/** Starts it again with the same environment, data, port and clock; ends it first if it runs. */
	restart(): Promise<void>;
	/** Its time, in milliseconds since the epoch. */
	now(): number;
	/** Moves the server's clock forward, or back when negative, relative to where it is. */
	advance(ms: number): Promise<void>;
}

/** No test but those of the limits themselves is limited. */
const NO_LIMITS = Object.fromEntries(
	['RATE_LIMIT_DEFAULT', 'RATE_LIMIT_ENTERPRISE', 'UNPAID_PROMPTS', 'UNPAID_PROMPTS_TOTAL'].map((name) => [
		name,
		'100000'
	])
);

/** Starts the built server and answers when it is ready to serve. */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
	const folder = options.version ?? root;
	if (!existsSync(path.join(folder, 'build/handler.js')))
		throw new Error('There is no build to test: "npm test" builds, or "npm run build".');
	const dataDir = options.dataDir ?? mkdtempSync(path.join(tmpdir(), 'airtill-server-'));
	const port = options.port ?? (await freePort());
	const host = options.on?.host ?? '127.0.0.1';
	const url = `http://${host}:${port}`;
	const databaseUrl = await databaseFor(options.database ?? 'sqlite', dataDir);
	const env: Record<string, string> = {
		...inherited(),
		PORT: String(port),
		HOST: host,
		DATABASE_URL: databaseUrl,
		DATA_DIR: dataDir,
		AIRTILL_LOG_LEVEL: 'warn',
		AIRTILL_DEMO: 'routers',
		// On a busy machine Node's five seconds ended idle connections just as a test used them again.
		KEEP_ALIVE_TIMEOUT: '60',
		...NO_LIMITS,
		...options.env
	};
	let stdout = '';
	let stderr = '';
	let clockOffsetMs = Number(env['AIRTILL_TEST_CLOCK_OFFSET_MS'] ?? 0);
	let child: ChildProcess;

	const start = async () => {
		const [program = process.execPath, ...before] = options.on?.inside ?? [];
		const entry = path.join(folder, 'src/server.js');
		const flags = [...(options.flags ?? NODE_OPTIONS), '--import', clock];
		const args = [...before, ...(before.length > 0 ? [process.execPath] : []), ...flags, entry];
		const started = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
		child = started;
		running.add(started);
		started.once('exit', () => running.delete(started));
		started.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
		started.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
		const isReady = options.on?.answers ?? answers;
		await untilReady(
			// It prints its keys a moment after it answers.
			async () =>
				(await isReady(`${url}/readyz`)) &&
				(options.on?.isSilent === true || stdout.includes('Airtill is ready: ')),
			started,
			() => `${stdout}${stderr}`
		);
	};

	/** @returns whether it ended without force */
	const end = async (signal: NodeJS.Signals): Promise<boolean> => {
		if (hasEnded(child)) return true;
		const gone = once(child, 'exit');
		child.kill(signal);
		let isForced = false;
		const limit = setTimeout(() => (isForced = child.kill('SIGKILL')), stopLimitMs);
		await gone;
		clearTimeout(limit);
		return !isForced;
	};

	const removeData = () => {
		if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
	};

	try {
		await start();
	} catch (error) {
		removeData();
		throw error;
	}

	return {
		url,
		port,
		dataDir,
		databaseUrl,
		env,
		get pid() {
			return child.pid ?? 0;
		},
		stdout: () => stdout,
		stderr: () => stderr,
		async kill(signal = 'SIGKILL') {
			if (!(await end(signal))) throw new Error(`${signal} did not end the server within ${stopLimitMs} ms`);
		},
		async stop() {
			await end('SIGTERM');
			removeData();
		},
		async restart() {
			await end('SIGTERM');
			await start();
		},
		now: () => Date.now() + clockOffsetMs,
		async advance(ms) {
			clockOffsetMs += ms;
			// For later starts, and for the command line beside this server.
			env['AIRTILL_TEST_CLOCK_OFFSET_MS'] = String(clockOffsetMs);
			if (hasEnded(child)) return;
			const applied = once(child, 'message', { signal: AbortSignal.timeout(clockLimitMs) });
			child.send({ clockOffsetMs });
			await applied;
		}
	};
}

async function databaseFor(database: string, dataDir: string): Promise<string> {
	if (database === 'sqlite') {
		const file = path.join(dataDir, 'airtill.db');
		// A server without a folder makes both.
		if (existsSync(dataDir) && !existsSync(file)) copyFileSync(await migratedFile(), file);
		return `file:${file}`;
	}
	if (database !== 'postgres') return database;
	// Imported here only: Playwright's tests use this file too, and vitest refuses to be loaded there.
	const { inject } = await import('vitest');
	const adminUrl = inject('postgresUrl');
	return createDatabaseOn(adminUrl, { template: await migratedDatabase(adminUrl), schema: SCHEMA });
}

// Made once per process and copied: migrating takes a fifth of the start of a server.
let file: Promise<string> | undefined;
let template: Promise<string> | undefined;

/** @returns path of a SQLite file with the schema */
const migratedFile = () =>
	(file ??= (async () => {
		const folder = mkdtempSync(path.join(tmpdir(), 'airtill-migrated-'));
		process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
		const migrated = path.join(folder, 'airtill.db');
		await migrate(`file:${migrated}`);
		return migrated;
	})());

/** @returns name of a PostgreSQL database with the schema */
const migratedDatabase = (adminUrl: string) =>
	(template ??= (async () => {
		const name = `migrated_${process.pid}`;
		await migrate(await createDatabaseOn(adminUrl, { name, schema: SCHEMA }));
		return name;
	})());

async function migrate(url: string): Promise<void> {
	const database = await openDatabase(url, { poolSize: 1 });
	await database.close();
}

function inherited(): Record<string, string> {
	const env: Record<string, string> = {};
	for (const name of ['PATH', 'HOME', 'TZ']) {
		const value = process.env[name];
		if (value !== undefined) env[name] = value;
	}
	return env;
}

async function untilReady(isReady: () => Promise<boolean>, child: ChildProcess, output: () => string) {
	const deadline = Date.now() + readyLimitMs;
	for (;;) {
		if (hasEnded(child)) {
			throw new Error(`The server ended at its start (${child.exitCode ?? child.signalCode}):\n${output()}`);
		}
		if (await isReady()) return;
		if (Date.now() > deadline) {
			child.kill('SIGKILL');
			throw new Error(`The server was not ready within ${readyLimitMs} ms:\n${output()}`);
		}
		await sleep(readyPollMs);
	}
}

async function answers(url: string): Promise<boolean> {
	try {
		const response = await fetch(url, { signal: AbortSignal.timeout(readyLimitMs) });
		await response.arrayBuffer();
		return response.status === 200;
	} catch {
		return false;
	}
}

export function hasEnded(child: ChildProcess) {
	return child.exitCode !== null || child.signalCode !== null;
}
