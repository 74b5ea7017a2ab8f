import { existsSync } from 'node:fs';
import { loadConfig } from '#lib/server/config/config.ts';
import { connectDatabase } from '#lib/server/db/database.ts';
import { pendingMigrations } from '#lib/server/db/migrate.ts';
import { defineCommand, UsageError } from '../support/command.ts';
import { CommandError } from '../support/errors.ts';
import { print } from '../support/output.ts';
import { databaseName } from '../support/services.ts';

export const planMigrations = defineCommand({
	name: 'migrate',
	parameters: '--plan',
	summary: 'List the migrations that the next start applies.',
	help: 'Changes nothing. Each start and most other commands apply them, under a lock.',
	options: { plan: { type: 'boolean' } },
	async run({ values: { plan = false }, env }) {
		if (!plan) throw new UsageError('--plan is missing: Airtill migrates when it starts.');
		const config = loadConfig(env);
		const { databaseUrl: url } = config;
		if (url.startsWith('file:') && !existsSync(url.slice('file:'.length))) {
			throw new CommandError(`There is no database at ${url}: the first start creates it.`);
		}
		const database = await connectDatabase(url, { poolSize: 1 });
		try {
			const names = await pendingMigrations(database);
			if (names.length > 0) await print(names.join('\n'));
			else console.error(`${databaseName(config)} has the newest schema.`);
		} finally {
			await database.close();
		}
	}
});
