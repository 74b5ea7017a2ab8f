/** Phone numbers and secrets on the disk are for the user who runs Airtill, whatever the umask (usually 022). */
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { startServer } from '../../support/server/server.ts';

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

		// Every user has access, and so has a group that was chosen.
		const ownGroup = process.getgid?.() ?? 0;
		const group = process.getuid?.() === 0 ? 1 : process.getgroups?.().find((one) => one !== ownGroup);
		if (group === undefined) return;
		await server.kill();
		for (const [one, mode] of [[dataDir, 0o755] as const, [file('airtill.db'), 0o644] as const]) {
			chownSync(one, process.getuid?.() ?? 0, group);
			chmodSync(one, mode);
		}
		await server.restart();
		expect(modes([dataDir, file('airtill.db')])).toEqual(['750', '640']);
	} finally {
		await server.stop();
	}
});
