/** A database that cannot take the request log: no call waits for it or fails, and the log is written afterwards. */
import { mkdtempSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '#lib/server/db/database.ts';
import { createLog } from '#lib/server/platform/log.ts';
import {
	startRequestLog,
	noteCall,
	listRecentCalls,
	stopRequestLog
} from '#lib/server/developer/request-log.ts';
import { isAll } from '../../../support/all.ts';
import { anEntry } from '../../../support/api/request-log.ts';
import { startPostgres, type TestPostgres } from '../../../support/database/postgres.ts';
import { eventually, startFixture, type Fixture } from '../../../support/server/fixture.ts';

const said = ({ server }: Fixture) =>
	[...server.stderr().matchAll(/"msg":"(the request log[^"]*)"/g)].map(([, text]) => text);

describe('a database that cannot take the log', () => {
	it('on sqlite: while another program writes, nothing waits for it; the log is written afterwards', async () => {
		const folder = mkdtempSync(path.join(tmpdir(), 'airtill-log-'));
		const url = `file:${folder}/a.db`;
		const database = await openDatabase(url, { poolSize: 1 });
		const log = startRequestLog({ database, clock: { now: () => Date.now() }, log: createLog('silent') });
		const writer = new DatabaseSync(`${folder}/a.db`);
		try {
			writer.exec('begin immediate');
			const started = performance.now();
			for (let call = 0; call < 3; call += 1) {
				noteCall(log, { ...anEntry, requestId: `req_${call}` });
				expect(await listRecentCalls(log, 1, { before: null, limit: 5 })).toEqual([]);
			}
			// The driver is synchronous: waiting for the writer would hold the whole process for ten seconds.
			expect(performance.now() - started).toBeLessThan(5_000);
			writer.exec('rollback');
			expect(await listRecentCalls(log, 1, { before: null, limit: 5 })).toHaveLength(3);
			// Everything else is on the disk when it is reported.
			const pragma = (name: string) => sql.raw(`pragma ${name}`).execute(database.db);
			expect((await pragma('synchronous')).rows).toEqual([{ synchronous: 2 }]);
		} finally {
			writer.close();
			await stopRequestLog(log);
			await database.close();
			rmSync(folder, { recursive: true, force: true });
		}
	});

	// Starts and kills a PostgreSQL of its own.
	if (isAll)
		describe('on postgres', () => {
			let postgres: TestPostgres;
			beforeAll(async () => {
				postgres = await startPostgres();
			});
			afterAll(() => postgres.stop());

			it('it is gone: calls are answered as before, and the log says so once', async () => {
				const fixture = await startFixture({ database: await postgres.createDatabase() });
				try {
					const { api } = await fixture.newKey();
					await api.getRouter(1);
					await postgres.kill();
					// Known keys work for five seconds without the database; what needs no query is answered as ever.
					for (let call = 0; call < 50; call += 1)
						expect((await api.send('GET', '/v1/nothing')).status).toBe(404);
					await eventually('it is said', async () => said(fixture).length > 0);
					await postgres.restart();
					await eventually(
						'calls work again',
						async () => (await api.send('GET', '/v1/routers/1')).status === 200
					);
					await eventually('the log is written again', async () => said(fixture).length > 1);
					expect(said(fixture)).toEqual([
						'the request log cannot be written; it waits in memory',
						'the request log is written again'
					]);
				} finally {
					await fixture.stop();
				}
			});
		});
});
