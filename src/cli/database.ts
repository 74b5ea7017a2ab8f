import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { createAudit } from '#lib/server/audit.ts';
import { BACKUP_ACTION } from '#lib/server/checks.ts';
import type { DatabaseConfig } from '#lib/server/config/config.ts';
import { backUp, restore } from '#lib/server/db/backup.ts';
import { copySqlite } from '#lib/server/db/copy-sqlite.ts';
import { addCity, listCities, urlOfCity } from '#lib/server/db/cities.ts';
import { connectDatabase, type Database } from '#lib/server/db/database.ts';
import { pendingMigrations } from '#lib/server/db/migrate.ts';
import { systemClock } from '#lib/server/platform/clock.ts';
import { defineCommand } from './command.ts';
import { COMMAND_LINE, databaseName } from './services.ts';
import { print, refuseUsage, tableLine } from './terminal.ts';
import { refuse } from '#lib/server/platform/errors.ts';

const MIB_BYTES = 1024 ** 2;

/** With the schema that it has. */
async function inDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
	const database = await connectDatabase(url, { poolSize: 1 });
	try {
		return await work(database);
	} finally {
		await database.close();
	}
}

const record = (config: DatabaseConfig, action: string, after: Record<string, unknown>): Promise<void> =>
	inDatabase(config.databaseUrl, (database) =>
		database.transact((trx) => createAudit(systemClock).record(trx, { actor: COMMAND_LINE, action, after }))
	);

export const databaseCommands = [
	defineCommand({
		name: 'migrate',
		summary: 'List the migrations that the next start applies.',
		help: 'Changes nothing. Each start and most other commands apply them, under a lock.',
		options: { plan: { help: 'required: Airtill migrates when it starts', isNeeded: true } },
		async run({ databaseConfig: read }) {
			const config = read();
			const { databaseUrl: url } = config;
			if (url.startsWith('file:') && !existsSync(url.slice('file:'.length))) {
				throw refuse(`There is no database at ${url}: the first start creates it.`);
			}
			const names = await inDatabase(url, pendingMigrations);
			if (names.length > 0) await print(names.join('\n'));
			else console.error(`${databaseName(config)} has the newest schema.`);
		}
	}),
	defineCommand({
		name: 'backup',
		args: ['FILE'],
		summary: 'Back up the database, while Airtill runs or not.',
		help: 'Writes one moment of the database to FILE, which only your user can read, and checks it. Keep AIRTILL_SECRET (in a sandbox, DATA_DIR) with it: nothing else opens stored passwords. PostgreSQL needs pg_dump and pg_restore.',
		options: { force: { help: 'replace FILE if it exists' } },
		async run({ args: [name], values: { force }, databaseConfig: read, folder }) {
			const config = read();
			const file = resolve(folder, name);
			const { version, bytes } = await backUp(config.databaseUrl, file, { force });
			await record(config, BACKUP_ACTION, { schema_version: version, bytes });
			const size = `${(bytes / MIB_BYTES).toFixed(1)} MiB`;
			console.error(`${databaseName(config)} is backed up to ${file}: ${size}, schema version ${version}.`);
		}
	}),
	defineCommand({
		name: 'restore',
		args: ['FILE'],
		summary: 'Replace the database by a backup. Stop Airtill first.',
		help: 'Checks FILE, then replaces the database of DATABASE_URL by it. New ids continue a million higher, so that no id of lost rows is used again. PostgreSQL needs pg_restore and psql.',
		options: {
			force: { help: 'replace a database that has data; its data is kept in another file or schema' }
		},
		async run({ args: [name], values: { force }, databaseConfig: read, folder }) {
			const config = read();
			const file = resolve(folder, name);
			const { version, kept } = await restore(config.databaseUrl, file, { force, now: systemClock.now() });
			await record(config, 'database.restore', { schema_version: version, kept });
			console.error(`${databaseName(config)} is restored from ${file}, schema version ${version}.`);
			if (kept !== null) console.error(`Its former data is kept in ${kept}.`);
			console.error('Run "doctor", then check the statements of your operators (guide: backup-and-upgrade).');
		}
	}),
	defineCommand({
		name: 'copy-sqlite',
		args: ['FILE'],
		summary: 'Copy an SQLite database into an empty PostgreSQL. Stop Airtill first.',
		help: 'Copies FILE, a database of this version, into the PostgreSQL database of DATABASE_URL, all or nothing. FILE stays as it is. Do not start Airtill on FILE again: sales after the copy would be lost.',
		async run({ args: [name], databaseConfig: read, folder }) {
			const config = read();
			const file = resolve(folder, name);
			const rows = await copySqlite(file, config.databaseUrl);
			await record(config, 'database.copy', { rows });
			const database = databaseName(config);
			console.error(`${database} has the ${rows} rows of ${file}. Run "doctor", then start Airtill on it.`);
		}
	}),
	defineCommand({
		name: 'city add',
		args: ['NAME'],
		summary: 'Add a city: a schema with all tables, for processes of its own.',
		help: 'Makes the schema NAME in the PostgreSQL database of DATABASE_URL. The ids of a city begin with its number, so that no other has them. Its processes name the schema at the end of their DATABASE_URL, as printed (guide: scaling).',
		options: {
			number: { value: 'N', help: 'the next one by default; for cities of several servers, another for each' }
		},
		async run({ args: [name], values: { number }, databaseConfig: read }) {
			if (number !== undefined && !/^\d{1,5}$/.test(number)) throw refuseUsage('--number is a number.');
			const config = read();
			const city = await addCity(config.databaseUrl, name, number === undefined ? undefined : Number(number));
			const databaseUrl = urlOfCity(config.databaseUrl, city);
			await record({ ...config, databaseUrl }, 'city.add', { ...city });
			await print(new URL(databaseUrl).search);
			console.error(
				`City ${city.number}, ${name}, is added. In its DATABASE_URL, put the line above in place of everything from the ? on.`
			);
		}
	}),
	defineCommand({
		name: 'city list',
		summary: 'List the cities of the database, with their numbers.',
		help: 'Lists the schemas of Airtill in the PostgreSQL database of DATABASE_URL. Number 0 was not made by "city add".',
		async run({ databaseConfig: read }) {
			const cities = await listCities(read().databaseUrl);
			const line = tableLine(6);
			await print(line('number', 'name'));
			for (const { number, name } of cities) await print(line(String(number), name));
		}
	})
];
