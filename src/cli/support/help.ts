import type { Command } from './command.ts';

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
