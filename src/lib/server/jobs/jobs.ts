import { randomUUID } from 'node:crypto';
import type { Clock } from '../platform/clock.ts';
import type { Database, Queries } from '../db/database.ts';
import type { Log } from '../platform/log.ts';
import { redact } from '../platform/redact.ts';
import { createWorker } from './worker.ts';
import * as store from './store.ts';

/**
 * Durable work: a row says what is due when; a process takes a lease on it, does it, and removes or moves it.
 * A process that dies loses its lease after LEASE_MS and another one goes on, so every handler must be safe to
 * run again. There is one job per kind and subject; scheduling it again moves it.
 */
export interface Jobs {
	/** Puts work on the list inside the caller's transaction. Call `nudge` after the commit. */
	schedule(queries: Queries, kind: string, subjectId: number, runAt: number): Promise<void>;
	/** Makes a job due now (adding it when it is gone) and starts it. */
	wake(kind: string, subjectId: number): Promise<void>;
	/** Looks for due work now instead of at the next tick. */
	nudge(): void;
	start(handlers: Record<string, JobHandler>): void;
	/** Takes no new work and waits for what runs. */
	stop(): Promise<void>;
}

/** Does the work; returns when to run again (epoch milliseconds), or null when it is done. */
export type JobHandler = (subjectId: number) => Promise<number | null>;

const LEASE_MS = 15_000;
const HEARTBEAT_MS = 5_000;
const MAX_RUNNING = 16;
/** Longest sleep between looks: other processes add work, and a test moves the clock. */
const MAX_SLEEP_MS = 250;
/** A clock that goes back further than this was set; jobs would wait until it has caught up. */
const CLOCK_STEP_MS = 5_000;
const MAX_BACKOFF_MS = 60_000;

export function createJobs(database: Database, clock: Clock, log: Log): Jobs {
	const owner = randomUUID();
	const running = new Map<number, Promise<void>>();
	let handlers: Record<string, JobHandler> = {};
	/** Latest time that the clock has shown. */
	let newest = -Infinity;
	const worker = createWorker(tick, {
		maxSleepMs: MAX_SLEEP_MS,
		onError: (error) => log.error({ err: error }, 'jobs cannot be read; trying again')
	});

	async function run(job: store.Job): Promise<void> {
		const heartbeat = setInterval(() => {
			store.extendLease(database, job, clock.now() + LEASE_MS).catch((error: unknown) => {
				log.warn({ err: error, job: job.kind }, 'lease not extended');
			});
		}, HEARTBEAT_MS);
		try {
			const handler = handlers[job.kind];
			if (!handler) throw new Error(`No handler for job ${job.kind}`);
			const again = await handler(job.subject_id);
			if (again === null) await store.complete(database, job);
			else await store.reschedule(database, job, { runAt: again, error: null, resetAttempts: true });
		} catch (error) {
			log.error({ err: error, job: job.kind, subject: job.subject_id }, 'job failed; it will run again');
			const runAt = clock.now() + Math.min(MAX_BACKOFF_MS, 500 * 2 ** Math.min(job.attempts, 10));
			const message = error instanceof Error ? error.message : String(error);
			// When this fails too (database gone), the lease runs out and the job is taken again.
			await store
				.reschedule(database, job, { runAt, error: redact(message).slice(0, 500), resetAttempts: false })
				.catch(() => {});
		} finally {
			clearInterval(heartbeat);
		}
	}

	/** Takes what is due; returns how long to sleep. */
	async function tick(): Promise<number> {
		const limit = MAX_RUNNING - running.size;
		if (limit <= 0) return MAX_SLEEP_MS;
		const now = clock.now();
		if (now < newest - CLOCK_STEP_MS) {
			log.warn(
				{ seconds: Math.round((newest - now) / 1000) },
				'the clock was set back; all jobs are looked at'
			);
			await store.makeAllDue(database, now, now + LEASE_MS);
			newest = now;
		}
		newest = Math.max(newest, now);
		const next = await store.nextRunAt(database);
		// Looked at first: on SQLite a claim asks for the one lock that all writers share, even when nothing is due.
		if (next === null || next > now) {
			return Math.min(MAX_SLEEP_MS, Math.max(1, (next ?? Infinity) - clock.now()));
		}
		const claimed = await store.claimDue(database, { owner, now, until: now + LEASE_MS, limit });
		for (const job of claimed) {
			// A clock that jumped ahead ends the lease of work that goes on here: that comes to its end first.
			const before = running.get(job.id) ?? Promise.resolve();
			const task = before
				.then(() => run(job))
				.finally(() => {
					if (running.get(job.id) === task) running.delete(job.id);
					worker.nudge();
				});
			running.set(job.id, task);
		}
		// Another process may have been faster.
		return claimed.length > 0 ? 0 : 1;
	}

	return {
		schedule: (queries, kind, subjectId, runAt) =>
			store.schedule(queries, { kind, subjectId, runAt, now: clock.now() }),
		async wake(kind, subjectId) {
			const now = clock.now();
			await store.schedule(database.db, { kind, subjectId, runAt: now, now });
			worker.nudge();
		},
		nudge: worker.nudge,
		start(given) {
			handlers = given;
			worker.start();
		},
		async stop() {
			await worker.stop();
			await Promise.allSettled([...running.values()]);
		}
	};
}
