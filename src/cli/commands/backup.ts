import { resolve } from 'node:path';
import { createAudit } from '#lib/server/audit/audit.ts';
import { loadConfig, type Config } from '#lib/server/config/config.ts';
import { backUp, restore } from '#lib/server/db/backup/backup.ts';
import { copySqlite } from '#lib/server/db/backup/copy.ts';
import { connectDatabase } from '#lib/server/db/database.ts';
import { systemClock } from '#lib/server/platform/clock.ts';
import { BACKUP_ACTION } from '#lib/server/checks/last-backup.ts';
import { defineCommand } from '../support/command.ts';
import { COMMAND_LINE, databaseName } from '../support/services.ts';

const MIB_BYTES = 1024 ** 2;

export const backUpDatabase = defineCommand({
	name: 'backup',
	parameters: 'FILE [--force]',
	summary: 'Back up the database, while Airtill runs or not.',
	help: [
		'Writes one moment of the database to FILE, which only your user can read, and checks it. Keep AIRTILL_SECRET (in a',
		'sandbox, DATA_DIR) with it: nothing else opens stored passwords. PostgreSQL needs pg_dump and pg_restore.',
		'',
		'  --force  replace FILE if it exists'
	].join('\n'),
	options: { force: { type: 'boolean' } },
	async run({ argument, values: { force = false }, env, folder }) {
		const config = loadConfig(env);
		const file = resolve(folder, argument);
		const { version, bytes } = await backUp(config.databaseUrl, file, { force });
		await record(config, BACKUP_ACTION, { schema_version: version, bytes });
		const size = `${(bytes / MIB_BYTES).toFixed(1)} MiB`;
		console.error(`${databaseName(config)} is backed up to ${file}: ${size}, schema version ${version}.`);
	}
});

export const restoreDatabase = defineCommand({
	name: 'restore',
	parameters: 'FILE [--force]',
	summary: 'Replace the database by a backup. Stop Airtill first.',
	help: [
		'Checks FILE, then replaces the database of DATABASE_URL by it. New ids continue a million higher, so that no id of',
		'lost rows is used again. PostgreSQL needs pg_restore and psql.',
		'',
		'  --force  replace a database that has data; its data is kept in another file or schema'
	].join('\n'),
	options: { force: { type: 'boolean' } },
	async run({ argument, values: { force = false }, env, folder }) {
		const config = loadConfig(env);
		const file = resolve(folder, argument);
		const { version, kept } = await restore(config.databaseUrl, file, { force, now: systemClock.now() });
		await record(config, 'database.restore', { schema_version: version, kept });
		console.error(`${databaseName(config)} is restored from ${file}, schema version ${version}.`);
		if (kept !== null) console.error(`Its former data is kept in ${kept}.`);
		console.error('Run "doctor", then check the statements of your operators (guide: backup-and-upgrade).');
	}
});

export const copyDatabase = defineCommand({
	name: 'copy-sqlite',
	parameters: 'FILE',
	summary: 'Copy an SQLite database into an empty PostgreSQL. Stop Airtill first.',
	help: [
		'Copies FILE, a database of this version, into the PostgreSQL database of DATABASE_URL, all or nothing. FILE stays as it',
		'is. Do not start Airtill on FILE again: sales after the copy would be lost.'
	].join('\n'),
	options: {},
	async run({ argument, env, folder }) {
		const config = loadConfig(env);
		const file = resolve(folder, argument);
		const rows = await copySqlite(file, config.databaseUrl);
		await record(config, 'database.copy', { rows });
		console.error(
			`${databaseName(config)} has the ${rows} rows of ${file}. Run "doctor", then start Airtill on it.`
		);
	}
});

async function record(config: Config, action: string, after: Record<string, unknown>): Promise<void> {
	const database = await connectDatabase(config.databaseUrl, { poolSize: 1 });
	try {
		const audit = createAudit(systemClock);
		await database.transact((trx) => audit.record(trx, { actor: COMMAND_LINE, action, after }));
	} finally {
		await database.close();
	}
}
