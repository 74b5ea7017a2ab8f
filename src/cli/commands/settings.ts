import { configTable } from '#lib/server/config/config.ts';
import { defineCommand } from '../support/command.ts';
import { print } from '../support/output.ts';

export const listSettings = defineCommand({
	name: 'settings list',
	summary: 'List all settings: environment variables, defaults and meanings.',
	help: 'Works before the first start. A running Airtill shows the same at /docs/guides/configuration.',
	run: () => print(configTable())
});
