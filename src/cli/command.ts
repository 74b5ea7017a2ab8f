import { parseArgs } from 'node:util';
import { isDate, spanOfDates } from '#lib/domain/time.ts';
import type { App } from '#lib/server/app.ts';
import {
	type Config,
	type DatabaseConfig,
	loadConfig,
	loadDatabaseConfig
} from '#lib/server/config/config.ts';
import { openApp } from './services.ts';
import { refuseUsage } from './terminal.ts';

export interface Context {
	env: Record<string, string | undefined>;
	/** Folder in which the user typed the command; base of relative file names. */
	folder: string;
}

/** An option without `value` and `words` is a flag. */
interface Option {
	/** Stands for its value in the help: `EMAIL`. */
	value?: string;
	/** The values that it takes. */
	words?: readonly string[];
	help: string;
	isNeeded?: true;
	/** One of the options with this is needed, which the command checks. */
	isChoice?: true;
	/** May be given several times. */
	isList?: true;
}
type Options = Readonly<Record<string, Option>>;

type TextOf<O> = O extends { words: readonly (infer Word)[] } ? Word : string;
type ValueOf<O> = O extends { isList: true }
	? string[]
	: O extends { isNeeded: true }
		? TextOf<O>
		: O extends { value: string } | { words: unknown }
			? never
			: boolean;
export type Values<O> = {
	[Name in keyof O as ValueOf<O[Name]> extends never ? never : Name]: ValueOf<O[Name]>;
} & {
	[Name in keyof O as ValueOf<O[Name]> extends never ? Name : never]?: TextOf<O[Name]>;
};

interface Call<A extends readonly string[], O> extends Context {
	args: { [Index in keyof A]: string };
	values: Values<O>;
	/** @throws Refused */
	config(): Config;
	/** For commands that must work while other settings are wrong. @throws Refused */
	databaseConfig(): DatabaseConfig;
	/** Opens the services without their jobs. They are stopped after the command. */
	open(): Promise<App>;
}

interface Texts {
	/** The words that select it: `routers import`. */
	name: string;
	summary: string;
	/** For `--help`, above the options. Its lines are wrapped. */
	help: string;
}

export interface Command extends Texts {
	args: readonly string[];
	options: Options;
	/** @returns the exit code. @throws Refused */
	run(argv: string[], context: Context): Promise<number>;
}

/** `run` returns the exit code; anything else is 0. */
export function defineCommand<
	const A extends readonly string[] = readonly [],
	const O extends Options = Record<never, Option>
>(command: Texts & { args?: A; options?: O; run(call: Call<A, O>): Promise<unknown> }): Command {
	const { args: names = [], options = {} } = command;
	return {
		...command,
		args: names,
		options,
		async run(argv, context) {
			const { args, values } = read(argv, names, options);
			let app: App | null = null;
			const databaseConfig = () => loadDatabaseConfig(context.env);
			const config = () => {
				databaseConfig();
				return loadConfig(context.env);
			};
			const open = async () => (app = await openApp(config()));
			try {
				const code = await command.run({ ...context, config, databaseConfig, open, args, values } as Call<
					A,
					O
				>);
				return typeof code === 'number' ? code : 0;
			} finally {
				await (app as App | null)?.stop();
			}
		}
	};
}

const isFlag = ({ value, words }: Option) => value === undefined && words === undefined;

function read(argv: string[], names: readonly string[], options: Options) {
	const { values: given, positionals: args } = parse(argv, options);
	const missing = names[args.length];
	if (missing !== undefined) throw refuseUsage(`${missing} is missing.`);
	const extra = args[names.length];
	if (extra !== undefined) throw refuseUsage(`Unexpected argument "${extra}".`);
	const values: Record<string, unknown> = {};
	for (const [name, option] of Object.entries(options)) {
		const value = given[name];
		if (option.isNeeded && value === undefined) throw refuseUsage(`--${name} is missing.`);
		if (option.isList) values[name] = value ?? [];
		else if (isFlag(option)) values[name] = value ?? false;
		else if (typeof value === 'string') values[name] = readText(name, option, value);
	}
	return { args, values };
}

function readText(name: string, { isNeeded, words }: Option, text: string): string {
	const trimmed = text.trim();
	if (isNeeded && trimmed === '') throw refuseUsage(`--${name} is missing.`);
	if (words && !words.includes(trimmed)) {
		throw refuseUsage(`--${name} is one of ${words.join(', ')}, not "${text}".`);
	}
	return isNeeded || words ? trimmed : text;
}

function parse(args: string[], options: Options) {
	const types = Object.entries(options).map(([name, option]) => {
		const type = isFlag(option) ? ('boolean' as const) : ('string' as const);
		return [name, { type, multiple: option.isList ?? false }] as const;
	});
	// West of Greenwich: not an option.
	const isDegrees = (word: string) => /^-[\d.]+,/.test(word);
	const degrees = args.filter(isDegrees);
	const words = [
		...args.filter((word) => !isDegrees(word)),
		...(degrees.length > 0 ? ['--', ...degrees] : [])
	];
	try {
		return parseArgs({ args: words, options: Object.fromEntries(types), allowPositionals: true });
	} catch (error) {
		if (!(error instanceof TypeError)) throw error;
		// The rest of the message is about positional arguments that begin with a dash.
		throw refuseUsage(`${error.message.split(/\.\s|\n/)[0] ?? ''}.`);
	}
}

/** Who makes a change and why, for the audit log. */
export const AUTHOR_OPTIONS = {
	by: { value: 'NAME', help: 'your name', isNeeded: true },
	note: { value: 'TEXT', help: 'the reason. The audit log keeps name and note', isNeeded: true }
} as const;

export const SPAN_OPTIONS = {
	from: {
		value: 'DATE',
		help: 'first day, in the time zone of REPORT_TIMEZONE, e.g. 2026-11-20',
		isNeeded: true
	},
	to: { value: 'DATE', help: 'last day; default: the same' }
} as const;

/** @throws Refused */
export function spanOfDays({ from, to = from }: Values<typeof SPAN_OPTIONS>, { reportTimezone }: Config) {
	for (const [option, date] of Object.entries({ '--from': from, '--to': to })) {
		if (!isDate(date)) throw refuseUsage(`${option} is a date such as 2026-11-20, not "${date}".`);
	}
	if (to < from) throw refuseUsage('--to is before --from.');
	return spanOfDates(from, to, reportTimezone);
}

export const START = 'npm run --silent airtill --';

const WIDTH = 118;

/** Breaks long lines between words. Lines that begin with spaces keep them. */
const wrapped = (text: string, width: number): string[] =>
	text
		.split('\n')
		.flatMap((line) => line.match(new RegExp(`(?:^ +)?\\S.{0,${width - 1}}(?= |$)|\\S+`, 'g')) ?? ['']);

function optionsOf({ options }: Command) {
	return Object.entries(options).map(([name, { value, words, ...option }]) => {
		const what = value ?? words?.join('|');
		return { ...option, start: `--${name}${what === undefined ? '' : ` ${what}`}` };
	});
}

export function usage(command: Command): string {
	const all = optionsOf(command);
	const choice = all.filter(({ isChoice }) => isChoice);
	const needed = all.filter(({ isNeeded }) => isNeeded);
	const options = [
		...(choice.length > 0 ? [choice.map(({ start }) => start).join('|')] : []),
		...needed.map(({ start }) => start),
		...(choice.length + needed.length < all.length ? ['[OPTION]...'] : [])
	];
	return ['Usage:', START, command.name, ...command.args, ...options].join(' ');
}

export function commandHelp(command: Command): string {
	const rows = optionsOf(command);
	const column = Math.max(...rows.map(({ start }) => start.length)) + 4;
	const options = rows.flatMap(({ start, help }) =>
		wrapped(help, WIDTH - column).map((line, index) => (index > 0 ? '' : `  ${start}`).padEnd(column) + line)
	);
	const above = [usage(command), '', command.summary, '', ...wrapped(command.help, WIDTH)];
	return [...above, ...(options.length > 0 ? ['', ...options] : [])].join('\n');
}

export function overview(commands: readonly Command[]): string {
	const width = Math.max(...commands.map(({ name }) => name.length));
	const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
	return [`Usage: ${START} COMMAND`, '', ...lines, '', 'COMMAND --help describes a command.'].join('\n');
}
