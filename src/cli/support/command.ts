import { parseArgs, type ParseArgsConfig } from 'node:util';

/** One command of the command line, as main.ts lists and runs it. */
export interface Command {
	/** The words that choose it: `routers import`. */
	name: string;
	/** What follows the name in its usage line. */
	parameters: string;
	/** One line for the list of commands. */
	summary: string;
	/** What `--help` adds to usage and summary. */
	help: string;
	/** @returns the exit code. @throws UsageError, CommandError */
	run(args: string[], context: Context): Promise<number>;
}

export interface Context {
	env: Record<string, string | undefined>;
	/** The folder in which the command was typed: relative file names begin there. */
	folder: string;
}

/** The command was not typed as it must be; its usage is shown with the message. */
export class UsageError extends Error {}

/** `parseArgs`, strict, with its complaints as UsageError. */
export function parseCommand<Options extends NonNullable<ParseArgsConfig['options']>>(
	args: string[],
	options: Options
): ReturnType<typeof parseArgs<{ options: Options; allowPositionals: true; strict: true }>> {
	try {
		return parseArgs({ args, options, allowPositionals: true, strict: true });
	} catch (error) {
		if (!(error instanceof TypeError)) throw error;
		// What follows the first sentence is about positional arguments that begin with a dash.
		throw new UsageError(`${error.message.split(/\.\s|\n/)[0] ?? ''}.`);
	}
}

/** The positional arguments, exactly those that `names` lists. */
export function positionals(given: string[], names: readonly string[]): string[] {
	const missing = names[given.length];
	if (missing !== undefined) throw new UsageError(`${missing} is missing.`);
	const extra = given[names.length];
	if (extra !== undefined) throw new UsageError(`Unexpected argument "${extra}".`);
	return given;
}

/** The value of an option that must be given. */
export function required(value: string | undefined, option: string): string {
	if (value === undefined || value.trim() === '') throw new UsageError(`${option} is missing.`);
	return value.trim();
}

/** The value of an option that is one of a few words. */
export function oneOf<Word extends string>(value: string, words: readonly Word[], option: string): Word {
	const word = words.find((known) => known === value);
	if (word === undefined) throw new UsageError(`${option} is one of ${words.join(', ')}, not "${value}".`);
	return word;
}
