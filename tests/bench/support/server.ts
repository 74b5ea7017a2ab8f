/** Starts the built server as in production: one process, without the test clock. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const entry = path.join(root, 'src/server.js');
const built = path.join(root, 'build/handler.js');
const startLimitMs = 60_000;
/** As in package.json: they decide how much memory the server keeps. */
export const flags = ['--max-semi-space-size=2', '--heap-growing-percent=30'];

export interface BenchServer {
	port: number;
	child: ChildProcess;
	/** From the spawn until the port accepts connections. */
	startMs: number;
	stdout(): string;
	stop(): Promise<void>;
}

/** Killed when this process exits. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
	for (const child of running) child.kill('SIGKILL');
});

/**
 * @param settings environment of the server, besides PATH and HOME
 * @param nodeOptions for example `--cpu-prof`
 */
export async function startBenchServer(
	settings: Record<string, string>,
	nodeOptions: string[] = []
): Promise<BenchServer> {
	if (!existsSync(built)) throw new Error('There is no build to measure: npm run build');
	const port = Number(settings['PORT']);
	const started = performance.now();
	const child = spawn(process.execPath, [...flags, ...nodeOptions, entry], {
		cwd: root,
		env: {
			PATH: process.env['PATH'],
			HOME: process.env['HOME'],
			NODE_ENV: 'production',
			MALLOC_ARENA_MAX: '2',
			...settings
		},
		stdio: ['ignore', 'pipe', 'pipe']
	});
	running.add(child);
	const gone = once(child, 'exit').then(() => running.delete(child));
	let stdout = '';
	let stderr = '';
	child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
	child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
	while (!(await takesConnections(port))) {
		if (child.exitCode !== null) throw new Error(`The server ended at its start:\n${stdout}${stderr}`);
		if (performance.now() - started > startLimitMs) throw new Error('The server did not start');
		await sleep(2);
	}
	const startMs = performance.now() - started;
	return {
		port,
		child,
		startMs,
		stdout: () => stdout,
		async stop() {
			child.kill('SIGTERM');
			await gone;
		}
	};
}

/** Reads the key of a demo account from the output of a server with demo data. */
export async function demoKey({ stdout }: Pick<BenchServer, 'stdout'>): Promise<string> {
	for (let look = 0; look < 100; look += 1) {
		const key = /\sapp\s+(atl_test_\w+)/.exec(stdout())?.[1];
		if (key) return key;
		await sleep(50);
	}
	throw new Error(`The server printed no key:\n${stdout()}`);
}

function takesConnections(port: number): Promise<boolean> {
	return new Promise((resolve) => {
		const socket = connect({ port, host: '127.0.0.1' });
		socket.once('connect', () => {
			socket.destroy();
			resolve(true);
		});
		socket.once('error', () => resolve(false));
	});
}

/** Resident memory of a process in MB. */
export function residentMb(pid: number): number {
	const { stdout } = spawnSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
	return Number(stdout.trim()) / 1024;
}
