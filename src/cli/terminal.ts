import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { getSystemErrorMessage } from 'node:util';
import type { Finding } from '#lib/server/checks.ts';
import { refuse, Refused, Unavailable } from '#lib/server/platform/errors.ts';

const OUTPUT_CLOSED = 'output_closed';

/** The reader of our output has closed it (`| head`), which is not an error. */
export const isOutputClosed = (error: unknown) =>
	error instanceof Unavailable && error.reason === OUTPUT_CLOSED;

export function print(text: string): Promise<void> {
	return new Promise((resolve, reject) => {
		process.stdout.write(`${text}\n`, (error) => {
			if (!error) resolve();
			else
				reject(
					'code' in error && error.code === 'EPIPE'
						? new Unavailable(error.message, { reason: OUTPUT_CLOSED })
						: error
				);
		});
	});
}

/** Removes control characters, which could move the cursor or colour the terminal. */
export const plain = (text: string): string => text.replace(/\p{Cc}+/gu, ' ');

export const tableLine =
	(...widths: number[]) =>
	(...cells: string[]): string =>
		cells.map((text, column) => plain(text).padEnd(widths[column] ?? 0)).join('  ');

export const REPORT_HELP =
	'Prints one line for each check: ok, warn or FAIL, the result and the next step. The exit code is 1 after a FAIL.';

/** @returns the exit code */
export async function report(findings: AsyncIterable<Finding>): Promise<number> {
	let code = 0;
	for await (const { level, name, what, advice } of findings) {
		if (level === 'FAIL') code = 1;
		await print(plain(`${level} ${name}: ${what}${advice === null ? '' : ` - ${advice}`}`));
	}
	return code;
}

export async function readInput(folder: string, name: string): Promise<Buffer> {
	try {
		return await readFile(resolve(folder, name));
	} catch (error) {
		throw unreadable(name, error);
	}
}

/** Reads a file of any size in chunks. @throws Refused */
export async function* streamInput(folder: string, name: string): AsyncGenerator<Buffer> {
	try {
		for await (const chunk of createReadStream(resolve(folder, name))) yield chunk as Buffer;
	} catch (error) {
		throw unreadable(name, error);
	}
}

function unreadable(name: string, error: unknown): unknown {
	const { errno } = error as NodeJS.ErrnoException;
	if (errno === undefined) return error;
	return refuse(`${name} cannot be read: ${getSystemErrorMessage(errno)}.`, { cause: error });
}

/** Reads a secret of one line. Returns null without a file. @throws Refused */
export const readOneLine = async (folder: string, name: string | undefined): Promise<string | null> =>
	(await readSecret(folder, name))?.trim() ?? null;

/**
 * Every user of a machine can see command lines, so secrets come from files.
 * Keeps spaces, but not the final line break.
 * @returns undefined without a file
 */
export async function readSecret(folder: string, name: string | undefined): Promise<string | undefined> {
	if (name === undefined) return undefined;
	return (await readInput(folder, name)).toString('utf8').replace(/\r?\n$/, '');
}

/** The command line is wrong. The usage is printed with the message. */
export const refuseUsage = (message: string) => new Refused<'usage'>('usage', message);

/** Node's own error codes that input can cause. Others mean a bug. */
const EXPECTED_NODE_CODES = new Set(['ERR_SQLITE_ERROR', 'ERR_INVALID_URL']);

/** Accepts refusals written for people, and coded errors of the system, the network or a database. */
export function isExpected(error: unknown): error is Error {
	if (!(error instanceof Error)) return false;
	if (error instanceof Refused) return true;
	if (!('code' in error) || typeof error.code !== 'string') return false;
	return !error.code.startsWith('ERR_') || EXPECTED_NODE_CODES.has(error.code);
}
