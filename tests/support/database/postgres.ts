/**
 * A PostgreSQL of the tests' own: a new cluster in a temporary folder, on loopback, with its own port, made
 * with the system's binaries (Debian's package is installed where that is possible). It writes to disk as a
 * real one does (fsync on), because the tests check what survives a crash. It never runs as root and never
 * touches a cluster that was there before.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { install } from '../programs.js';
import { freePort } from '../server/ports.ts';

const startLimitMs = 30_000;
const stopLimitMs = 10_000;
const pollIntervalMs = 25;

export interface TestPostgres {
	/** Of the database `postgres`, with the right to create others. */
	url: string;
	/** A new, empty database, whose connections are in the schema SCHEMA; answers its URL. */
	createDatabase(): Promise<string>;
	/** Ends it and removes its folder. */
	stop(): Promise<void>;
	/** SIGKILL to the postmaster, as a crash would end it; answers when it is gone. `restart()` recovers. */
	kill(): Promise<void>;
	/** Ends it if it runs, and starts it again on the same folder and port. */
	restart(): Promise<void>;
}

interface RunAs {
	uid?: number;
	gid?: number;
}

export interface Node {
	url: string;
	port: number;
	/** What it logged since its last start. */
	log(): string;
	start(): Promise<void>;
	end(signal: NodeJS.Signals): Promise<void>;
	/** Ends it and removes its folder. */
	remove(): Promise<void>;
}

interface Place {
	bin: string;
	folder: string;
	dataDir: string;
	runAs: RunAs;
}

/** Starts a server in a folder of its own. @param fill makes its data folder */
export async function startNode(
	fill: (place: Place) => void,
	more: Readonly<Record<string, string>> = {}
): Promise<Node> {
	const bin = findBinaries() ?? installBinaries();
	const runAs = unprivilegedUser();
	const folder = mkdtempSync(path.join(tmpdir(), 'airtill-postgres-'));
	if (runAs.uid !== undefined && runAs.gid !== undefined) chownSync(folder, runAs.uid, runAs.gid);
	const dataDir = path.join(folder, 'data');
	const port = await freePort();
	const url = `postgres://postgres@127.0.0.1:${port}/postgres`;

	const watcher = watchForOurEnd(folder, dataDir);
	let server: ChildProcess | null = null;
	let log = '';

	const start = async () => {
		log = '';
		const settings = {
			listen_addresses: '127.0.0.1',
			port,
			unix_socket_directories: '',
			timezone: 'UTC',
			shared_buffers: '32MB',
			max_connections: 200,
			fsync: 'on',
			...more
		};
		const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
		const started = spawn(path.join(bin, 'postgres'), ['-D', dataDir, ...args], {
			...runAs,
			cwd: folder,
			env: { PATH: process.env['PATH'] },
			stdio: ['ignore', 'ignore', 'pipe']
		});
		started.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
		server = started;
		await untilReady(url, started, () => log);
	};

	const end = async (signal: NodeJS.Signals) => {
		if (!server || hasEnded(server)) return;
		const gone = once(server, 'exit');
		server.kill(signal);
		const limit = setTimeout(() => server?.kill('SIGKILL'), stopLimitMs);
		await gone;
		clearTimeout(limit);
	};

	const remove = async () => {
		// SIGQUIT: at once, without the last checkpoint; the folder goes anyway.
		await end('SIGQUIT');
		rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
		watcher.stdin.end();
	};

	try {
		fill({ bin, folder, dataDir, runAs });
		await start();
	} catch (error) {
		await remove();
		throw error;
	}
	return { url, port, log: () => log, start, end, remove };
}

export async function startPostgres(): Promise<TestPostgres> {
	const { url, log, start, end, remove } = await startNode(initialise);
	return {
		url,
		createDatabase: () => createDatabaseOn(url, { schema: SCHEMA }),
		stop: remove,
		kill: () => end('SIGKILL'),
		async restart() {
			await end('SIGINT');
			// After a kill, the postmaster's children need a moment to notice and let go of the shared memory.
			const deadline = Date.now() + startLimitMs;
			for (;;) {
				try {
					return await start();
				} catch (error) {
					if (!log().includes('shared memory block') || Date.now() > deadline) throw error;
					await sleep(pollIntervalMs);
				}
			}
		}
	};
}

/** Of servers under test: everything works in another schema than `public`. */
export const SCHEMA = 'kampala';

/**
 * Creates an empty database, or a copy of `template`, on the server of `adminUrl` and answers its URL.
 * @param schema the one of its connections
 */
export async function createDatabaseOn(
	adminUrl: string,
	{ name = `t_${randomBytes(6).toString('hex')}`, template = 'template1', schema = 'public' } = {}
) {
	const create = `create database "${name}" template "${template}"`;
	await runOn(
		adminUrl,
		create,
		...(schema === 'public' ? [] : [`alter database "${name}" set search_path = ${schema}`])
	);
	const url = new URL(adminUrl);
	url.pathname = `/${encodeURIComponent(name)}`;
	if (schema !== 'public' && template === 'template1') await runOn(url.href, `create schema ${schema}`);
	return url.href;
}

async function runOn(url: string, ...commands: string[]): Promise<void> {
	const client = new pg.Client({ connectionString: url });
	await client.connect();
	try {
		for (const command of commands) await client.query(command);
	} finally {
		await client.end();
	}
}

/** Makes an empty cluster. */
export function initialise(place: Place): void {
	// --no-sync is about initdb's own files only; losing them to a power cut means making them again.
	const options = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
	fillWith('initdb', options, place);
}

/** Runs a program of PostgreSQL that makes the data folder. */
export function fillWith(
	program: string,
	options: readonly string[],
	{ bin, folder, dataDir, runAs }: Place
) {
	const args = [...options, '-D', dataDir];
	const { status, stdout, stderr, error } = spawnSync(path.join(bin, program), args, {
		...runAs,
		cwd: folder,
		encoding: 'utf8'
	});
	if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? ''}\n${stdout}${stderr}`);
}

async function untilReady(url: string, server: ChildProcess, log: () => string) {
	const deadline = Date.now() + startLimitMs;
	for (;;) {
		if (hasEnded(server)) throw new Error(`PostgreSQL ended at its start:\n${log()}`);
		const client = new pg.Client({ connectionString: url });
		try {
			await client.connect();
			await client.end();
			return;
		} catch (error) {
			if (Date.now() > deadline) {
				throw new Error(`PostgreSQL was not ready within ${startLimitMs} ms:\n${log()}`, { cause: error });
			}
		}
		await sleep(pollIntervalMs);
	}
}

function hasEnded(child: ChildProcess) {
	return child.exitCode !== null || child.signalCode !== null;
}

/**
 * A shell that outlives us, for the case that the tests are killed: its input ends when we do, then it ends the
 * server by the pid in its folder and removes the folder.
 */
function watchForOurEnd(folder: string, dataDir: string) {
	const script =
		'cat >/dev/null; read pid < "$2/postmaster.pid" && kill -QUIT "$pid" && sleep 1; rm -rf "$1"';
	const watcher = spawn('/bin/sh', ['-c', script, 'sh', folder, dataDir], {
		detached: true,
		stdio: ['pipe', 'ignore', 'ignore']
	});
	watcher.unref();
	if (watcher.stdin instanceof Socket) watcher.stdin.unref();
	return watcher;
}

function findBinaries(): string | null {
	const debian = '/usr/lib/postgresql';
	const newestFirst = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
	const candidates = [
		spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' }).stdout?.trim() ?? '',
		...newestFirst.map((version) => path.join(debian, version, 'bin')),
		...(process.env['PATH'] ?? '').split(path.delimiter)
	];
	const hasBoth = (folder: string) =>
		folder !== '' && ['initdb', 'postgres'].every((name) => existsSync(path.join(folder, name)));
	return candidates.find(hasBoth) ?? null;
}

/** Debian's package makes a cluster of its own when it is installed; that is prevented here. */
function installBinaries(): string {
	const noCluster = '/etc/postgresql-common/createcluster.d/airtill-tests.conf';
	if (process.getuid?.() === 0) {
		mkdirSync(path.dirname(noCluster), { recursive: true });
		writeFileSync(noCluster, 'create_main_cluster = false\n');
		try {
			install(['postgresql']);
		} finally {
			rmSync(noCluster);
		}
	}
	const bin = findBinaries();
	if (bin) return bin;
	throw new Error(
		'The tests need the PostgreSQL server programs (initdb, postgres) and found none.\n' +
			'Debian: apt-get install postgresql. Others: put the folder of initdb on PATH.'
	);
}

/** PostgreSQL refuses to run as root: then it runs as `postgres`, whom Debian's package creates. */
function unprivilegedUser(): RunAs {
	if (process.getuid?.() !== 0) return {};
	const idOf = (kind: '-u' | '-g') =>
		Number(spawnSync('id', [kind, 'postgres'], { encoding: 'utf8' }).stdout.trim() || Number.NaN);
	const [uid, gid] = [idOf('-u'), idOf('-g')];
	if (!uid || !gid) throw new Error('Running as root needs a system user "postgres" for the test database.');
	return { uid, gid };
}
