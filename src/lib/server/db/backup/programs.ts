import { spawn, type ChildProcess } from 'node:child_process';
import { BackupError } from './kind.ts';

/** The end of a long list of errors says nothing new. */
const MAX_ERROR_CHARACTERS = 2_000;

export interface Program {
	child: ChildProcess;
	/** Resolves when the program has succeeded. @throws BackupError with its messages */
	done: Promise<void>;
}

/**
 * Starts one of PostgreSQL's client programs.
 * @param env its environment: every user of the machine can read command lines, so the password is in here
 * @throws BackupError if it is missing, through `done`
 */
export function startProgram(name: string, args: readonly string[], env: NodeJS.ProcessEnv): Program {
	const child = spawn(name, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
	let messages = '';
	child.stderr.setEncoding('utf8').on('data', (text: string) => {
		messages = (messages + text).slice(0, MAX_ERROR_CHARACTERS);
	});
	// A program that ends early closes its input. Its exit code tells.
	child.stdin.on('error', () => {});
	const done = new Promise<void>((resolve, reject) => {
		child.on('error', (error: NodeJS.ErrnoException) => {
			const advice = "install PostgreSQL's client programs (Debian: apt-get install postgresql-client)";
			const isMissing = error.code === 'ENOENT';
			reject(new BackupError(isMissing ? `${name} is not on PATH: ${advice}.` : error.message));
		});
		child.on('close', (code, signal) => {
			if (code === 0) resolve();
			else reject(new BackupError(messages.trim() || `${name} ended with ${code ?? signal}.`));
		});
	});
	return { child, done };
}

/** Runs a program to its end. @returns what it printed */
export async function runProgram(
	name: string,
	args: readonly string[],
	env: NodeJS.ProcessEnv
): Promise<string> {
	const { child, done } = startProgram(name, args, env);
	let output = '';
	child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
	child.stdin?.end();
	await done;
	return output;
}
