import { configTable } from '#lib/server/config/config.ts';
import { parseCommand, positionals, type Command } from '../support/command.ts';
import { print } from '../support/output.ts';

export const listSettings: Command = {
	name: 'settings list',
	parameters: '',
	summary: 'List all settings: environment variables, defaults and descriptions.',
	help: 'Works before the first start. A running Airtill shows the same at /docs/guides/configuration.',
	async run(args) {
		positionals(parseCommand(args, {}).positionals, []);
		await print(configTable());
		return 0;
	}
};
