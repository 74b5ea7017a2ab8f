import { parseArgs, type ParseArgsConfig } from 'node:util';

/** One command of the command line, as main.ts lists and runs it. */
export interface Command {
	/** The words that choose it: `routers import`. */
	name: string;
	/** The parameters in its usage line. */
	parameters: string;
	/** One line for the list of commands. */
	summary: string;
	/** Printed by `--help` below usage and summary. */
	help: string;
	/** @returns the exit code. @throws UsageError, CommandError */
	run(args: string[], context: Context): Promise<number>;
}

export interface Context {
	env: Record<string, string | undefined>;
	/** The folder in which the command was typed; base of relative file names. */
	folder: string;
}

/** The command line is wrong; the usage is printed with the message. */
export class UsageError extends Error {}

/** Parses arguments strictly. @throws UsageError */
export function parseCommand<Options extends NonNullable<ParseArgsConfig['options']>>(
	args: string[],
	options: Options
): ReturnType<typeof parseArgs<{ options: Options; allowPositionals: true; strict: true }>> {
	try {
		return parseArgs({ args, options, allowPositionals: true, strict: true });
	} catch (error) {
		if (!(error instanceof TypeError)) throw error;
		// The rest of the message is about positional arguments that begin with a dash.
		throw new UsageError(`${error.message.split(/\.\s|\n/)[0] ?? ''}.`);
	}
}

/** Requires exactly the positional arguments that `names` lists. */
export function positionals(given: string[], names: readonly string[]): string[] {
	const missing = names[given.length];
	if (missing !== undefined) throw new UsageError(`${missing} is missing.`);
	const extra = given[names.length];
	if (extra !== undefined) throw new UsageError(`Unexpected argument "${extra}".`);
	return given;
}

/** Returns the value of a required option. @throws UsageError if it is missing or empty */
export function required(value: string | undefined, option: string): string {
	if (value === undefined || value.trim() === '') throw new UsageError(`${option} is missing.`);
	return value.trim();
}

/** Returns the value of an option with a fixed set of words. @throws UsageError for others */
export function oneOf<Word extends string>(value: string, words: readonly Word[], option: string): Word {
	const word = words.find((known) => known === value);
	if (word === undefined) throw new UsageError(`${option} is one of ${words.join(', ')}, not "${value}".`);
	return word;
}
