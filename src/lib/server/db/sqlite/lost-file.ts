import { statSync, unwatchFile, watchFile, type Stats } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../platform/errors.ts';
import { createNewPrivateFile } from '../../platform/private-files.ts';

const LOOK_MS = 2_000;

/**
 * Ends the process when the file of its database is deleted, moved or replaced. SQLite would not notice: everything
 * stored from then on is gone after the next start. All that is stored until now is kept in another file.
 * @param opened from before the connection, which may have waited for a command that replaces the file
 * @returns ends the watch
 */
export function watchForLoss(path: string, connection: DatabaseSync, opened: Stats): () => void {
	if (!isSame(path, opened)) throw new Error(`${path} was replaced while Airtill started. Start it again.`);
	const look = () => {
		if (isSame(path, opened)) return;
		unwatchFile(path, look);
		const what = `${path} was deleted, moved or replaced while Airtill ran, so Airtill stops.`;
		throw new Error(`${what} ${keep(path, connection)}`);
	};
	watchFile(path, { interval: LOOK_MS, persistent: false }, look);
	return () => unwatchFile(path, look);
}

function isSame(path: string, { dev, ino }: Stats): boolean {
	try {
		const file = statSync(path, { throwIfNoEntry: false });
		return file?.ino === ino && file.dev === dev;
	} catch {
		// A folder that this user may not enter for a while hides the file only.
		return true;
	}
}

/** @returns what an administrator does with the data */
function keep(path: string, connection: DatabaseSync): string {
	const kept = `${path}.kept-${new Date().toISOString().replace(/\D/g, '')}`;
	try {
		createNewPrivateFile(kept);
		// Nobody has an answer that depends on an open transaction.
		if (connection.isTransaction) connection.exec('rollback');
		connection.prepare('vacuum into ?').run(kept);
		// SQLite would apply what is left of the log to the new file.
		connection.exec('pragma wal_checkpoint(truncate)');
		return `Its data is in ${kept}: to go on with it, stop Airtill and run "airtill restore ${kept} --force".`;
	} catch (error) {
		return `Its data could not be kept in ${kept}: ${messageOf(error)}.`;
	}
}
