/** A run of a job that stands still for longer than its lease, while another run takes the job over. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { openDatabase, type Database, type Tx } from '#lib/server/db/database.ts';
import { type FencedDatabase, type Jobs, createJobs, fenceHandlers } from '#lib/server/jobs.ts';
import { createLog } from '#lib/server/platform/log.ts';
import { createDatabaseOn } from '../../../support/database/postgres.ts';
import { BOTH_DATABASES } from '../../../support/server/fixture.ts';

/** Longer than a lease. */
const LEASE_OVER_MS = 9_000;
const WAIT = { timeout: 15_000 };

describe.each(BOTH_DATABASES)('on %s', (kind) => {
	let folder: string;
	let database: Database;
	let started: Jobs[];
	let open: () => void;
	const log = createLog('silent');
	const error = vi.spyOn(log, 'error');

	beforeEach(async () => {
		// No heartbeat extends a lease.
		vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
		folder = mkdtempSync(path.join(tmpdir(), 'airtill-fence-'));
		const url =
			kind === 'sqlite' ? `file:${path.join(folder, 'a.db')}` : await createDatabaseOn(inject('postgresUrl'));
		database = await openDatabase(url, { poolSize: 6 });
		await database.db.deleteFrom('jobs').execute();
		error.mockClear();
		started = [];
	});
	afterEach(async () => {
		open();
		await Promise.all(started.map((jobs) => jobs.stop()));
		await database.close();
		rmSync(folder, { recursive: true, force: true });
		vi.useRealTimers();
	});

	/** A process with a clock of its own. */
	function startProcess(work: (database: FencedDatabase) => Promise<unknown>, clock = { offset: 0 }) {
		const jobs = createJobs(database, { now: () => Date.now() + clock.offset }, log);
		started.push(jobs);
		const handle = async (context: { database: FencedDatabase }) => {
			await work(context.database);
			return null;
		};
		jobs.start(fenceHandlers({ database }, { note: handle, other: handle }));
		return jobs;
	}

	const note = (trx: Tx, name: string) =>
		trx
			.insertInto('accounts')
			.values({ email: name, role: 'app', plan: 'default', status: 'active', created_at: 0 })
			.execute();
	const notes = async () =>
		(await database.db.selectFrom('accounts').select('email').where('created_at', '=', 0).execute()).map(
			({ email }) => email
		);

	/** @returns the first process, whose run stands still at the gate until `open` */
	async function suspended(
		work: (database: FencedDatabase, gate: () => Promise<unknown>) => Promise<unknown>
	) {
		const reached = Promise.withResolvers<undefined>();
		const opened = Promise.withResolvers<undefined>();
		open = () => opened.resolve(undefined);
		const clock = { offset: 0 };
		const gate = () => {
			reached.resolve(undefined);
			return opened.promise;
		};
		const first = startProcess((fenced) => work(fenced, gate), clock);
		await first.schedule(database.db, 'note', 1, Date.now());
		await reached.promise;
		return { first, clock };
	}

	async function takeOver() {
		startProcess((fenced) => fenced.transact((trx) => note(trx, 'second')), { offset: LEASE_OVER_MS });
		await vi.waitFor(async () => expect(await notes()).toEqual(['second']), WAIT);
	}

	it('it stores nothing, which is no error', async () => {
		const { first } = await suspended(async (fenced, gate) => {
			await gate();
			await fenced.transact((trx) => note(trx, 'first'));
		});
		await takeOver();
		open();
		await first.stop();
		expect(await notes()).toEqual(['second']);
		expect(error).not.toHaveBeenCalled();
	});

	it('it stores nothing although the other run has left the job for later', async () => {
		const { first } = await suspended(async (fenced, gate) => {
			await gate();
			await fenced.transact((trx) => note(trx, 'first'));
		});
		await takeOver();
		await first.schedule(database.db, 'note', 1, Date.now() + 60_000);
		open();
		await first.stop();
		expect(await notes()).toEqual(['second']);
		const { run_at } = await database.db.selectFrom('jobs').select('run_at').executeTakeFirstOrThrow();
		expect(run_at).toBeGreaterThan(Date.now());
	});

	// SQLite lets nobody else write meanwhile.
	if (kind === 'postgres') {
		it('it stores nothing if it stands still inside its transaction', async () => {
			const { first } = await suspended((fenced, gate) =>
				fenced.transact(async (trx) => {
					await note(trx, 'first');
					await gate();
				})
			);
			await takeOver();
			open();
			await first.stop();
			expect(await notes()).toEqual(['second']);
			expect(error).not.toHaveBeenCalled();
		});
	}

	it('a jump of the clock takes no job from the process that runs it', async () => {
		const runs = vi.fn();
		const { first, clock } = await suspended(async (fenced, gate) => {
			runs();
			const { length: run } = runs.mock.calls;
			if (run === 1) await gate();
			await fenced.transact((trx) => note(trx, `run ${run}`));
		});
		clock.offset = LEASE_OVER_MS;
		// It looks for jobs after the jump.
		await first.wake('other', 1);
		await vi.waitFor(() => expect(runs).toHaveBeenCalledTimes(2), WAIT);
		open();
		await vi.waitFor(async () => expect(await notes()).toHaveLength(2), WAIT);
		expect(runs).toHaveBeenCalledTimes(2);
	});
});
