import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openDatabase, type Database } from '#lib/server/db/database.ts';
import { type Jobs, createJobs } from '#lib/server/jobs.ts';
import { createLog } from '#lib/server/platform/log.ts';

/** Longer than a lease. */
const LEASE_OVER_MS = 9_000;
const HEARTBEAT_MS = 2_000;

describe('the queue', () => {
	let folder = '';
	let database: Database;
	let jobs: Jobs;
	let offset = 0;
	const clock = { now: () => Date.now() + offset };

	beforeEach(async () => {
		vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
		folder = mkdtempSync(path.join(tmpdir(), 'airtill-jobs-'));
		database = await openDatabase(`file:${path.join(folder, 'airtill.db')}`, { poolSize: 1 });
		await database.db.deleteFrom('jobs').execute();
		offset = 0;
		jobs = createJobs(database, clock, createLog('silent'));
	});
	afterEach(async () => {
		await jobs.stop();
		await database.close();
		rmSync(folder, { recursive: true });
		vi.useRealTimers();
	});

	const jobIs = (kind: string) =>
		database.db.selectFrom('jobs').selectAll().where('kind', '=', kind).executeTakeFirst();

	it('runs a job again whose release failed, however busy the process stays', async () => {
		let finish = () => {};
		const hangs = () => new Promise<null>((resolve) => (finish = () => resolve(null)));
		const paid = vi.fn(async () => null);
		// As if the database failed when the result was stored.
		await sql`create trigger refuse before delete on jobs when old.kind = 'payment'
			begin select raise(abort, 'no disk'); end`.execute(database.db);
		await sql`create trigger refuse_too before update on jobs
			when old.kind = 'payment' and old.lease_until is not null and new.lease_until is null
			begin select raise(abort, 'no disk'); end`.execute(database.db);
		await jobs.schedule(database.db, 'payment', 1, clock.now());
		await jobs.schedule(database.db, 'hangs', 1, clock.now());
		jobs.start({ payment: paid, hangs });
		await vi.waitFor(() => expect(paid).toHaveBeenCalledOnce(), 15_000);
		await vi.waitFor(async () => expect((await jobIs('hangs'))?.lease_until).toBeTruthy(), 15_000);
		await sql`drop trigger refuse`.execute(database.db);
		await sql`drop trigger refuse_too`.execute(database.db);

		const before = (await jobIs('hangs'))?.lease_until ?? 0;
		offset = LEASE_OVER_MS - HEARTBEAT_MS;
		vi.advanceTimersByTime(HEARTBEAT_MS);
		await vi.waitFor(async () => expect((await jobIs('hangs'))?.lease_until).toBeGreaterThan(before), 15_000);
		offset = LEASE_OVER_MS;
		await vi.waitFor(() => expect(paid).toHaveBeenCalledTimes(2), 15_000);
		finish();
	});

	it('lets at most 200 jobs wait for one system; the others make no call and hold no slot', async () => {
		const release = Promise.withResolvers<string>();
		const answers: string[] = [];
		const asks = async () => {
			answers.push(await jobs.withoutSlot('hanging operator', () => release.promise, 'crowded'));
			return null;
		};
		const pays = vi.fn(async () => null);
		for (let id = 1; id <= 250; id += 1) await jobs.schedule(database.db, 'asks', id, clock.now());
		jobs.start({ asks, pays });
		await vi.waitFor(() => expect(answers).toEqual(Array(50).fill('crowded')), 15_000);
		await jobs.schedule(database.db, 'pays', 1, clock.now());
		await vi.waitFor(() => expect(pays).toHaveBeenCalled(), 15_000);
		release.resolve('answered');
		await vi.waitFor(() => expect(answers).toHaveLength(250), 15_000);
	});
});
