/**
 * Machines of a test: network namespaces of Linux, each with a mount table of its own, so that programs see their own
 * /etc and /run and nothing outside is touched. Needs root. Whatever runs in one ends with it, by its process id, and
 * with the test however that ends.
 */
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

/** No machine outlives this, even where the test was killed. */
const LIFE_SECONDS = '1800';
const limitMs = 20_000;
const lookAgainMs = 20;

export interface Machine {
	/** Of the process that keeps it. */
	readonly pid: number;
	/** Prefix of a command line that runs there; the working directory is `/`. */
	readonly inside: readonly string[];
	/** Runs a program to its end. @throws Error when it fails */
	run(program: string, ...args: string[]): Promise<string>;
	/** The same, ignoring failures. */
	try(program: string, ...args: string[]): Promise<{ code: number; output: string }>;
	/** Starts a program that stays. */
	start(program: string, args: readonly string[], options?: SpawnOptions): ChildProcess;
	/** Process ids of all that runs there. */
	processes(): number[];
	/** False once it is being ended. */
	isRunning(): boolean;
	/** Ends all of it. */
	stop(): Promise<void>;
}

const machines = new Set<Machine>();
process.on('exit', () => {
	for (const machine of machines) endAll(machine);
});

/** The network namespace of a process; '' when it is gone. */
function networkOf(pid: number | 'self'): string {
	try {
		return readlinkSync(`/proc/${pid}/ns/net`);
	} catch {
		return '';
	}
}

function endAll(machine: Machine): void {
	for (const pid of machine.processes()) {
		try {
			process.kill(pid, 'SIGKILL');
		} catch {
			// Already ended.
		}
	}
}

export async function startMachine(): Promise<Machine> {
	const keeper = spawn(
		'setpriv',
		['--pdeathsig', 'KILL', 'unshare', '--mount', '--net', '--propagation', 'private', 'sleep', LIFE_SECONDS],
		{ stdio: 'ignore' }
	);
	const failed = once(keeper, 'error').then(([error]: unknown[]) => Promise.reject(error));
	const pid = keeper.pid ?? 0;
	const outside = networkOf('self');
	const isApart = async () => {
		const deadline = performance.now() + limitMs;
		// Before unshare has run it is in the network of the test.
		while (networkOf(pid) === outside || networkOf(pid) === '') {
			if (performance.now() > deadline || keeper.exitCode !== null) throw new Error('unshare did not work');
			await sleep(lookAgainMs);
		}
	};
	await Promise.race([isApart(), failed]);
	failed.catch(() => undefined);
	const network = networkOf(pid);

	const inside = ['nsenter', '--target', String(pid), '--mount', '--net', '--'];
	const start: Machine['start'] = (program, args, options = {}) =>
		spawn('setpriv', ['--pdeathsig', 'KILL', ...inside, program, ...args], {
			stdio: ['ignore', 'pipe', 'pipe'],
			...options
		});
	let isRunning = true;
	const machine: Machine = {
		pid,
		inside,
		start,
		async try(program, ...args) {
			const child = start(program, args, { timeout: limitMs });
			let output = '';
			child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
			child.stderr?.setEncoding('utf8').on('data', (text: string) => (output += text));
			const [code]: unknown[] = await once(child, 'close');
			return { code: typeof code === 'number' ? code : -1, output };
		},
		async run(program, ...args) {
			const { code, output } = await machine.try(program, ...args);
			if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${output}`);
			return output;
		},
		processes: () =>
			readdirSync('/proc')
				.filter((name) => /^\d+$/.test(name) && networkOf(Number(name)) === network)
				.map(Number),
		isRunning: () => isRunning,
		async stop() {
			isRunning = false;
			const deadline = performance.now() + limitMs;
			while (machine.processes().length > 0) {
				if (performance.now() > deadline) throw new Error('A machine of the test does not end');
				endAll(machine);
				await sleep(lookAgainMs);
			}
			machines.delete(machine);
		}
	};
	machines.add(machine);
	await machine.run('ip', 'link', 'set', 'lo', 'up');
	return machine;
}

/** A cable between two machines. */
export async function connect(
	[left, leftName]: readonly [Machine, string],
	[right, rightName]: readonly [Machine, string]
): Promise<void> {
	const peer = ['peer', 'name', rightName, 'netns', String(right.pid)];
	await left.run('ip', 'link', 'add', leftName, 'type', 'veth', ...peer);
	await left.run('ip', 'link', 'set', leftName, 'up');
	await right.run('ip', 'link', 'set', rightName, 'up');
}
