import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import process from 'node:process';

const MEMORY = '/dev/shm';
const LEAST_BYTES = 2 * 1024 ** 3;

/**
 * Puts the temporary folders of the tests into memory, where a commit does not wait for a disk: a third of the time
 * of the API tests on a slow disk. What a killed process has written is kept there too. On machines without enough
 * memory, or with TMPDIR set, they stay where they are.
 */
export function useMemoryFolder() {
	if (process.env['TMPDIR'] !== undefined || !existsSync(MEMORY)) return;
	const { bavail, bsize } = statfsSync(MEMORY);
	if (bavail * bsize < LEAST_BYTES) return;
	const folder = mkdtempSync(`${MEMORY}/airtill-tests-`);
	// PostgreSQL and FreeRADIUS run as users of their own.
	chmodSync(folder, 0o711);
	process.env['TMPDIR'] = folder;
	process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
}
