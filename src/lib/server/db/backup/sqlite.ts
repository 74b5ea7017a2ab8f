import { createReadStream, createWriteStream, existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';
import { createPrivateFolder, PRIVATE_FILE_MODE } from '../../platform/private-files.ts';
import { resultCode } from '../sqlite/driver.ts';
import { schemaVersion, type AppliedMigration } from '../migrate.ts';
import { ASK_ABOUT_UNSENT, BackupError, ID_GAP, type Kind } from './kind.ts';

/** A copy in several steps starts again after each write of another process, and might never end. */
const ALL_PAGES = 2 ** 31 - 1;
const WAIT_MS = 10_000;
/** SQLITE_BUSY, and SQLITE_CORRUPT and SQLITE_NOTADB */
const BUSY = 5;
const DAMAGED: readonly number[] = [11, 26];
/** SQLite applies a log of these names to whatever file is there. */
const LOG_ENDS = ['-wal', '-shm', '-journal'];

export const sqliteBackup = (path: string): Kind => ({
	async copyTo(file) {
		if (!existsSync(path)) throw new BackupError(`There is no database at ${path}.`);
		const source = new DatabaseSync(path, { timeout: WAIT_MS });
		try {
			await backup(source, file, { rate: ALL_PAGES });
		} finally {
			source.close();
		}
	},
	check: async (file) => checkFile(file, file),
	async replaceBy(file, { force, stamp }) {
		createPrivateFolder(dirname(path));
		const copy = `${path}.restoring`;
		const held = existsSync(path) ? hold(path) : null;
		try {
			if (held && !held.isEmpty && !force) {
				throw new BackupError(
					`${path} has data: add --force to replace it. Its data is kept in another file.`
				);
			}
			removeWithLogs(copy);
			// copyFile would give the copy the mode of the file.
			const isNew = { flags: 'wx', mode: PRIVATE_FILE_MODE };
			await pipeline(createReadStream(file), createWriteStream(copy, isNew));
			const version = checkFile(copy, file);
			prepare(copy);
			const kept = `${path}.before-restore-${stamp}`;
			if (held && !held.isEmpty) keep(path, kept, held.database);
			for (const end of LOG_ENDS) if (existsSync(path + end)) renameSync(path + end, kept + end);
			renameSync(copy, path);
			return { version, kept: held && !held.isEmpty ? kept : null };
		} finally {
			held?.database.close();
			removeWithLogs(copy);
		}
	}
});

function removeWithLogs(file: string): void {
	for (const end of ['', ...LOG_ENDS]) rmSync(file + end, { force: true });
}

export function schemaVersionIn(database: DatabaseSync): number {
	const applied = database.prepare('select version, name from schema_migrations order by version').all();
	return schemaVersion(applied as unknown as AppliedMigration[]);
}

/** Also folds the write-ahead log into the file. @param name for messages */
function checkFile(file: string, name: string): number {
	const database = new DatabaseSync(file);
	try {
		database.exec('pragma journal_mode = delete');
		const [found] = database.prepare('pragma integrity_check(1)').all();
		if (found?.['integrity_check'] !== 'ok') {
			throw new BackupError(`${name} is damaged: ${String(found?.['integrity_check'])}.`);
		}
		if (database.prepare('pragma foreign_key_check').all().length > 0) {
			throw new BackupError(`${name} is damaged: rows refer to rows that are missing.`);
		}
		return schemaVersionIn(database);
	} catch (error) {
		if (resultCode(error) === 0) throw error;
		const message = error instanceof Error ? error.message : String(error);
		throw new BackupError(`${name} is not an intact SQLite database of Airtill: ${message}.`, {
			cause: error
		});
	} finally {
		database.close();
	}
}

/** Locks the database until it is closed: a running server keeps a lock of its own on the file. */
export function hold(path: string): { database: DatabaseSync; isEmpty: boolean } {
	const database = new DatabaseSync(path);
	try {
		database.exec('pragma locking_mode = exclusive; begin exclusive; commit');
		const tables = database.prepare('select count(*) as count from sqlite_schema').get();
		return { database, isEmpty: tables?.['count'] === 0 };
	} catch (error) {
		const code = resultCode(error) & 0xff;
		if (DAMAGED.includes(code)) return { database, isEmpty: false };
		database.close();
		if (code !== BUSY) throw error;
		throw new BackupError(`${path} is in use: stop Airtill, then try again.`, { cause: error });
	}
}

function keep(path: string, kept: string, database: DatabaseSync): void {
	try {
		database.exec('pragma journal_mode = delete');
		// It stays, emptied, while the lock is held.
		rmSync(`${path}-journal`, { force: true });
	} catch (error) {
		if (!DAMAGED.includes(resultCode(error) & 0xff)) throw error;
	}
	// A link, so that there is a database at `path` at every moment.
	linkSync(path, kept);
}

/** Makes the copy fit to go on from its moment. */
function prepare(file: string): void {
	const database = new DatabaseSync(file);
	try {
		database.exec(`begin;
			insert into sqlite_sequence (name, seq) select name, 0 from sqlite_schema
				where type = 'table' and sql like '%autoincrement%' and name not in (select name from sqlite_sequence);
			update sqlite_sequence set seq = seq + ${ID_GAP};
			${ASK_ABOUT_UNSENT};
			commit`);
	} finally {
		database.close();
	}
}
