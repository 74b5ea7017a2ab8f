import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openDatabase, type Queries } from '#lib/server/db/database.ts';

/** https://sqlite.org/pragma.html#pragma_synchronous */
const NORMAL = 1;
const FULL = 2;

it('does not wait for the disk for unsynced writes only, also after one fails', async () => {
	const folder = mkdtempSync(path.join(tmpdir(), 'airtill-unsynced-'));
	const database = await openDatabase(`file:${path.join(folder, 'airtill.db')}`, { poolSize: 1 });
	const syncOf = async (queries: Queries) =>
		(await sql<{ synchronous: number }>`select synchronous from pragma_synchronous`.execute(queries)).rows[0]
			?.synchronous;
	const job = { kind: 'test', subject_id: 1, run_at: 0, created_at: 0 };
	const { db, unsynced } = database;
	const insert = () => unsynced.insertInto('jobs').values(job).execute();
	try {
		await insert();
		await expect(insert()).rejects.toThrow('UNIQUE');
		expect(await syncOf(db)).toBe(FULL);
		const inTransaction = unsynced.transaction().execute(syncOf);
		const purchase = database.transact(syncOf);
		expect(await Promise.all([syncOf(unsynced), inTransaction, purchase])).toEqual([NORMAL, NORMAL, FULL]);
	} finally {
		await database.close();
		rmSync(folder, { recursive: true });
	}
});
