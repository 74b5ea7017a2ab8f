import process from 'node:process';
import { formatConfigTable } from '#lib/server/config/config.ts';
import { messageOf, Refused } from '#lib/server/platform/errors.ts';
import { accountCommands } from './accounts.ts';
import { extractBasemap } from './basemap.ts';
import { root } from './bootstrap.js';
import { type Command, commandHelp, type Context, defineCommand, overview, START, usage } from './command.ts';
import { databaseCommands } from './database.ts';
import { doctor } from './doctor.ts';
import { gatewayCommands } from './gateways.ts';
import { exportPersonalData } from './personal-data.ts';
import { routerCommands } from './routers.ts';
import { checkStatementFile, checkTheBooks, verifyStatementFile } from './statements.ts';
import { isExpected, isOutputClosed, plain, print } from './terminal.ts';

const listSettings = defineCommand({
	name: 'settings list',
	summary: 'List all settings: environment variables, defaults and meanings.',
	help: 'Works before the first start. A running Airtill shows the same at /docs/guides/configuration.',
	run: () => print(formatConfigTable())
});

const COMMANDS: readonly Command[] = [
	...routerCommands,
	...accountCommands,
	...gatewayCommands,
	checkStatementFile,
	verifyStatementFile,
	checkTheBooks,
	exportPersonalData,
	extractBasemap,
	listSettings,
	...databaseCommands,
	doctor
];

const CODE_FAILED = 1;
const CODE_USAGE = 2;

/**
 * Results go to stdout, everything else to stderr.
 * @param argv the words after `airtill`
 * @returns the exit code: 0, 1 (failed) or 2 (wrong usage)
 */
export async function main(argv: string[]): Promise<number> {
	const context = { env: process.env, folder: typedIn() };
	// Relative paths in the configuration (DATABASE_URL=file:./data/airtill.db) start at the project's folder.
	process.chdir(root);
	try {
		return await choose(argv, context);
	} catch (error) {
		if (isOutputClosed(error)) return 0;
		console.error(isExpected(error) ? plainLines(messageOf(error)) : error);
		return CODE_FAILED;
	}
}

async function choose(argv: string[], context: Context): Promise<number> {
	const words = before(argv[0] === 'help' ? argv.slice(1) : argv, (word) => word.startsWith('-'));
	const command = COMMANDS.find(({ name }) => name.split(' ').every((word, index) => words[index] === word));
	const options = before(argv, (word) => word === '--');
	const wantsHelp = argv[0] === 'help' || options.includes('--help') || options.includes('-h');
	if (wantsHelp) {
		await print(command ? commandHelp(command) : overview(COMMANDS));
		return 0;
	}
	if (!command) {
		const unknown = `Unknown ${words.length > 0 ? 'command' : 'option'} "${words.join(' ') || argv[0]}".`;
		console.error(`${argv.length === 0 ? 'A command is missing.' : plain(unknown)}\n\n${overview(COMMANDS)}`);
		return CODE_USAGE;
	}
	try {
		return await command.run(argv.slice(command.name.split(' ').length), context);
	} catch (error) {
		if (!(error instanceof Refused && error.reason === 'usage')) throw error;
		console.error(`${plain(error.message)}\n\n${usage(command)}\nMore: ${START} ${command.name} --help`);
		return CODE_USAGE;
	}
}

function before(words: string[], ends: (word: string) => boolean): string[] {
	const end = words.findIndex(ends);
	return end === -1 ? words : words.slice(0, end);
}

const plainLines = (text: string) => text.split('\n').map(plain).join('\n');

/** npm runs scripts in the project's folder and sets INIT_CWD to the folder of the command. */
function typedIn(): string {
	const { npm_lifecycle_event: script, INIT_CWD: folder } = process.env;
	return script === 'airtill' && folder !== undefined ? folder : process.cwd();
}
