/** Readings of the database for /metrics: what they cost, and what remains when they fail. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { afterCommit, openDatabase, type Database } from '#lib/server/db/database.ts';
import { type Jobs, createJobs } from '#lib/server/jobs.ts';
import { createMonitoring } from '#lib/server/monitoring.ts';
import { createLog } from '#lib/server/platform/log.ts';
import { createMetrics } from '#lib/server/platform/metrics.ts';

const log = createLog('silent');
let folder = '';
let database: Database;
let now = 0;
const clock = { now: () => now };

beforeEach(async () => {
	folder = mkdtempSync(path.join(tmpdir(), 'airtill-metrics-'));
	database = await openDatabase(`file:${path.join(folder, 'airtill.db')}`, { poolSize: 1 });
	await database.db.deleteFrom('jobs').execute();
	now = 1_000_000;
});
afterEach(async () => {
	await database.close();
	rmSync(folder, { recursive: true });
});

/** @param due reads the jobs that are due */
async function monitor(due?: Jobs['due']) {
	const metrics = await createMetrics();
	const jobs = createJobs(database, clock, log, metrics);
	const context = {
		config: { metricsToken: 'x' },
		clock,
		log,
		metrics,
		database,
		jobs: due ? { ...jobs, due } : jobs
	};
	const kinds = { refund: 'refund', delivery: 'delivery' };
	return { jobs, monitoring: createMonitoring({ ...context, kinds } as never) };
}

it('a failed reading leaves the metrics of the process, and says that the database does not answer', async () => {
	const { monitoring } = await monitor(() => Promise.reject(new Error('the database is gone')));
	const text = await monitoring.text();
	expect(text).toMatch(/^airtill_database_up 0$/m);
	expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
});

it('scrapes within five seconds share one reading', async () => {
	const due = vi.fn(async () => ({ kinds: [], groups: { count: 0, oldest: 0 } }));
	const { monitoring } = await monitor(due);
	await Promise.all([monitoring.text(), monitoring.text()]);
	now += 4_999;
	await monitoring.text();
	expect(due).toHaveBeenCalledTimes(1);
	now += 1;
	await monitoring.text();
	expect(due).toHaveBeenCalledTimes(2);
});

it('due jobs count by kind, deliveries once per endpoint, and none once they are done', async () => {
	const { jobs, monitoring } = await monitor();
	for (const id of [1, 2]) await jobs.schedule(database.db, 'payment', id, now - 30_000);
	await jobs.schedule(database.db, 'later', 1, now + 60_000);
	const delivery = { kind: 'delivery', groupId: 7, runAt: now - 10_000 };
	await jobs.scheduleAll(
		database.db,
		[1, 2, 3].map((subjectId) => ({ ...delivery, subjectId }))
	);
	const text = await monitoring.text();
	expect(text).toContain('airtill_jobs_due{kind="payment"} 2\n');
	expect(text).toContain('airtill_jobs_due_oldest_seconds{kind="payment"} 30\n');
	expect(text).toContain('airtill_jobs_due{kind="delivery"} 1\n');
	expect(text).not.toContain('later');
	await database.db.deleteFrom('jobs').execute();
	now += 5_000;
	expect(await monitoring.text()).not.toContain('kind="payment"');
});

it('a job that fails is counted', async () => {
	const { jobs, monitoring } = await monitor();
	await jobs.schedule(database.db, 'payment', 1, now);
	const fails = vi.fn(() => Promise.reject(new Error('it failed')));
	jobs.start({ payment: fails });
	await vi.waitFor(() => expect(fails).toHaveBeenCalled(), 15_000);
	await jobs.stop();
	expect(await monitoring.text()).toContain('airtill_job_failures_total{kind="payment"} 1\n');
});

it('what follows a commit does not follow a transaction that failed', async () => {
	const followed = vi.fn();
	const failed = database.transact(async (trx) => {
		afterCommit(trx, followed);
		throw new Error('it failed');
	});
	await expect(failed).rejects.toThrow('it failed');
	expect(followed).not.toHaveBeenCalled();
	await database.transact(async (trx) => {
		afterCommit(trx, followed);
		expect(followed).not.toHaveBeenCalled();
	});
	expect(followed).toHaveBeenCalledOnce();
});
