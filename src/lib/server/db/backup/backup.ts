import { existsSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { createNewPrivateFile } from '../../platform/private-files.ts';
import { BackupError, type Kind, type Restored } from './kind.ts';

/**
 * Copies of the whole database, made while servers use it.
 *
 * Backup: written to a temporary file, checked, then renamed. A file with the final name is complete.
 * Restore: replaces all data in one step, only while nothing uses the database, and keeps what was there.
 */

async function kindOf(url: string): Promise<Kind> {
	if (url.startsWith('file:')) return (await import('./sqlite.ts')).sqliteBackup(url.slice('file:'.length));
	return (await import('./postgres.ts')).postgresBackup(url);
}

/** @throws BackupError; then `file` is as it was */
export async function backUp(
	url: string,
	file: string,
	{ force }: { force: boolean }
): Promise<{ version: number; bytes: number }> {
	refuseOwnFile(url, file);
	if (existsSync(file) && !force) throw new BackupError(`${file} exists: add --force to replace it.`);
	const kind = await kindOf(url);
	const part = `${file}.part`;
	rmSync(part, { force: true });
	createNewPrivateFile(part);
	try {
		await kind.copyTo(part);
		const version = await kind.check(part);
		renameSync(part, file);
		return { version, bytes: statSync(file).size };
	} finally {
		rmSync(part, { force: true });
	}
}

/** @throws BackupError; then the database is as it was */
export async function restore(
	url: string,
	file: string,
	{ force, now }: { force: boolean; now: number }
): Promise<Restored> {
	refuseOwnFile(url, file);
	if (!existsSync(file)) throw new BackupError(`There is no file ${file}.`);
	const kind = await kindOf(url);
	const stamp = new Date(now).toISOString().replace(/\D/g, '');
	return kind.replaceBy(file, { force, stamp });
}

function refuseOwnFile(url: string, file: string): void {
	const path = url.slice('file:'.length);
	if (!url.startsWith('file:') || !existsSync(path) || !existsSync(file)) return;
	if (realpathSync(path) !== realpathSync(file)) return;
	throw new BackupError(`${file} is the database itself (DATABASE_URL): name another file.`);
}
