import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import process from 'node:process';

const MEMORY = '/dev/shm';
const LEAST_BYTES = 2 * 1024 ** 3;
const PREFIX = 'airtill-tests-';

/**
 * Puts the temporary folders of a run into one, which goes at its end with all that ended processes have left. It is in
 * memory, where a commit does not wait for a disk: a third of the time of the API tests on a slow disk. With TMPDIR
 * set, or without enough memory, it is where temporary folders usually are.
 * @returns what removes it
 */
export default function useTemporaryFolder(): () => void {
	// The projects of a run share it.
	if (process.env['TMPDIR']?.includes(PREFIX)) return () => {};
	const folder = mkdtempSync(`${hasMemory() ? MEMORY : tmpdir()}/${PREFIX}`);
	// PostgreSQL and FreeRADIUS run as users of their own.
	chmodSync(folder, 0o711);
	process.env['TMPDIR'] = folder;
	return () => rmSync(folder, { recursive: true, force: true });
}

function hasMemory(): boolean {
	if (process.env['TMPDIR'] !== undefined || !existsSync(MEMORY)) return false;
	const { bavail, bsize } = statfsSync(MEMORY);
	return bavail * bsize >= LEAST_BYTES;
}
