import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { getSystemErrorMessage } from 'node:util';
import { CommandError } from './errors.ts';

export async function readInput(folder: string, name: string): Promise<Buffer> {
	try {
		return await readFile(resolve(folder, name));
	} catch (error) {
		throw unreadable(name, error);
	}
}

/** Reads a file of any size in chunks. @throws CommandError */
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
	return new CommandError(`${name} cannot be read: ${getSystemErrorMessage(errno)}.`, { cause: error });
}

/** Reads a secret of one line. Returns null without a file. @throws CommandError */
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
