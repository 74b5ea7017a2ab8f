import { parseArgs, type ParseArgsConfig } from 'node:util';
import { isDate, spanOfDates } from '#lib/format/calendar.ts';
import type { App } from '#lib/server/app.ts';
import { loadConfig } from '#lib/server/config/config.ts';
import { openApp } from './services.ts';

export interface Command {
	/** The words that select it: `routers import`. */
	name: string;
	/** Arguments and options in its usage line. */
	parameters: string;
	summary: string;
	/** Printed by `--help` below usage and summary. */
	help: string;
	/** @returns the exit code. @throws UsageError, CommandError */
	run(args: string[], context: Context): Promise<number>;
}

export interface Context {
	env: Record<string, string | undefined>;
	/** Folder in which the user typed the command; base of relative file names. */
	folder: string;
}

type Options = NonNullable<ParseArgsConfig['options']>;
type Parsed<O extends Options> = ReturnType<typeof parseArgs<{ options: O; allowPositionals: true }>>;

interface Call<O extends Options> extends Context {
	values: Parsed<O>['values'];
	/** The first positional argument; '' if the command has none. */
	argument: string;
	secondArgument: string;
	/** Opens the services without their jobs. They are stopped after the command. */
	open(): Promise<App>;
}

/** The command line is wrong. The usage is printed with the message. */
export class UsageError extends Error {}

/** `run` returns the exit code; anything else is 0. */
export function defineCommand<const O extends Options>({
	options,
	run,
	...texts
}: Omit<Command, 'run'> & { options: O; run(call: Call<O>): Promise<unknown> }): Command {
	const words = texts.parameters.split(' ').filter((word) => word !== '');
	const end = words.findIndex((word) => !/^\w/.test(word));
	const names = end === -1 ? words : words.slice(0, end);
	return {
		...texts,
		async run(args, context) {
			const { values, positionals } = parse(args, options);
			const missing = names[positionals.length];
			if (missing !== undefined) throw new UsageError(`${missing} is missing.`);
			const extra = positionals[names.length];
			if (extra !== undefined) throw new UsageError(`Unexpected argument "${extra}".`);
			let app: App | null = null;
			const open = async () => (app = await openApp(loadConfig(context.env)));
			try {
				const code = await run({
					...{ ...context, values, open },
					...{ argument: positionals[0] ?? '', secondArgument: positionals[1] ?? '' }
				});
				return typeof code === 'number' ? code : 0;
			} finally {
				await (app as App | null)?.stop();
			}
		}
	};
}

function parse<const O extends Options>(args: string[], options: O): Parsed<O> {
	try {
		return parseArgs({ args, options, allowPositionals: true });
	} catch (error) {
		if (!(error instanceof TypeError)) throw error;
		// The rest of the message is about positional arguments that begin with a dash.
		throw new UsageError(`${error.message.split(/\.\s|\n/)[0] ?? ''}.`);
	}
}

export function required(value: string | undefined, option: string): string {
	if (value === undefined || value.trim() === '') throw new UsageError(`${option} is missing.`);
	return value.trim();
}

export const AUTHOR_OPTIONS = { by: { type: 'string' }, note: { type: 'string' } } as const;

/** Reads who makes a change and why, for the audit log. @throws UsageError */
export const authorOf = (values: { by?: string | undefined; note?: string | undefined }) => ({
	by: required(values.by, '--by'),
	note: required(values.note, '--note')
});

export function oneOf<Word extends string>(value: string, words: readonly Word[], option: string): Word {
	const word = words.find((known) => known === value);
	if (word === undefined) throw new UsageError(`${option} is one of ${words.join(', ')}, not "${value}".`);
	return word;
}

/** Reads `--from` and `--to`, by default the same day. @throws UsageError */
export function spanOfDays(values: { from?: string | undefined; to?: string | undefined }, timeZone: string) {
	const from = required(values.from, '--from');
	const to = values.to ?? from;
	for (const [option, date] of Object.entries({ '--from': from, '--to': to })) {
		if (!isDate(date)) throw new UsageError(`${option} is a date such as 2026-11-20, not "${date}".`);
	}
	if (to < from) throw new UsageError('--to is before --from.');
	return spanOfDates(from, to, timeZone);
}
