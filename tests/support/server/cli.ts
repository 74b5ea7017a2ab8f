/** Runs the command line of this project beside a server: with its environment, so on its database, and by its clock. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { compileCache } from '../../../src/cli/bootstrap.js';
import { clock, hasEnded, root, type TestServer } from './server.ts';

const limitMs = 120_000;
/** As airtill.js sets it: halves the time to load the command line. */
const COMPILED = { NODE_COMPILE_CACHE: compileCache };

export interface CliResult {
	code: number;
	stdout: string;
	stderr: string;
}

type Environment = Pick<TestServer, 'env'>;

let host: ChildProcess | null = null;
let isBusy = false;

/** Runs `airtill ARGS`, by way of cli-host.ts. A command beside another one gets a process of its own. */
export async function cli(args: string[], { env }: Environment): Promise<CliResult> {
	if (isBusy) return runAlone(args, env);
	isBusy = true;
	try {
		return await runInHost(args, env);
	} finally {
		isBusy = false;
	}
}

let files = 0;
/** Writes a secret as options take it. @returns the path */
export function secretFile({ dataDir }: Pick<TestServer, 'dataDir'>, text: string): string {
	const file = path.join(dataDir, `secret-${(files += 1)}`);
	writeFileSync(file, `${text}\n`, { mode: 0o600 });
	return file;
}

function runningHost(env: Record<string, string>): ChildProcess {
	if (host === null || host.killed || hasEnded(host)) {
		host = spawn(
			process.execPath,
			['--import', clock, path.join(root, 'tests/support/server/cli-host.ts')],
			// The answers come by the channel; what the process itself prints is a fault to be seen.
			{ cwd: root, env: { ...env, ...COMPILED }, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }
		);
		host.unref();
		host.channel?.unref();
	}
	return host;
}

async function runInHost(args: string[], env: Record<string, string>): Promise<CliResult> {
	const clockOffsetMs = Number(env['AIRTILL_TEST_CLOCK_OFFSET_MS'] ?? 0);
	const child = runningHost(env);
	child.channel?.ref();
	const stop = new AbortController();
	const limit = setTimeout(() => child.kill('SIGKILL'), limitMs);
	try {
		child.send({ args, env, clockOffsetMs });
		return await Promise.race([answerOf(child, stop.signal), endOf(child, args, stop.signal)]);
	} finally {
		clearTimeout(limit);
		stop.abort();
		child.channel?.unref();
	}
}

/** The clock acknowledges a move by a message of its own. */
async function answerOf(child: ChildProcess, signal: AbortSignal): Promise<CliResult> {
	for (;;) {
		const [message] = (await once(child, 'message', { signal })) as [object];
		if ('code' in message) return message as CliResult;
	}
}

async function endOf(child: ChildProcess, args: string[], signal: AbortSignal): Promise<never> {
	const [code, by] = (await once(child, 'exit', { signal })) as unknown[];
	throw new Error(`airtill ${args.join(' ')} ended its host (${String(code ?? by)})`);
}

/** Runs `airtill ARGS` in a process of its own, as its users do. */
async function runAlone(args: string[], env: Record<string, string>): Promise<CliResult> {
	const child = spawn(process.execPath, ['--import', clock, path.join(root, 'src/cli/airtill.js'), ...args], {
		cwd: root,
		env,
		stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
		timeout: limitMs
	});
	let stdout = '';
	let stderr = '';
	child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
	child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
	const [code, signal] = (await once(child, 'close')) as unknown[];
	if (typeof code !== 'number') throw new Error(`airtill ${args.join(' ')} was ended by ${String(signal)}`);
	return { code, stdout, stderr };
}
