/** Phone numbers and secrets on the disk are for the user who runs Airtill, whatever the umask (usually 022). */
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { closeToOthers } from '#lib/server/platform/private-files.ts';
import { startServer } from '../../../support/server/server.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'airtill-modes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('no other user has access to the data, also of an earlier version', async () => {
	const dataDir = path.join(folder, 'data');
	const file = (name: string) => path.join(dataDir, name);
	const files = ['airtill.db', 'airtill.db-wal', 'airtill.db-shm', 'sandbox-secret'].map(file);
	const modes = (paths: string[]) => paths.map((one) => (statSync(one).mode & 0o777).toString(8));
	const server = await startServer({ dataDir, env: { DATABASE_URL: `file:${file('airtill.db')}` } });
	try {
		expect(modes([dataDir, ...files])).toEqual(['700', '600', '600', '600', '600']);

		await server.kill();
		chmodSync(dataDir, 0o755);
		for (const one of files.slice(0, 3)) chmodSync(one, 0o644);
		await server.restart();
		expect(modes([dataDir, ...files])).toEqual(['700', '600', '600', '600', '600']);

		// An administrator lets a group read, for backups.
		await server.kill();
		chmodSync(dataDir, 0o750);
		chmodSync(file('airtill.db'), 0o640);
		await server.restart();
		expect(modes([dataDir, file('airtill.db')])).toEqual(['750', '640']);
	} finally {
		await server.stop();
	}
});

it("another group than the user's own keeps its access when all others lose theirs", () => {
	const file = path.join(folder, 'shared');
	writeFileSync(file, '');
	chmodSync(file, 0o644);
	const ownGroup = vi.spyOn(process, 'getgid').mockReturnValue(statSync(file).gid + 1);
	closeToOthers(file, 'file');
	ownGroup.mockRestore();
	expect(statSync(file).mode & 0o777).toBe(0o640);
});
