import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { newestRecordAt } from '../db/inspect.ts';
import type { Clock } from '../platform/clock.ts';
import { afterCommit, type Database, type Queries, type Tx } from '../db/database.ts';
import type { Log } from '../platform/log.ts';
import { NO_METRICS, type Metrics } from '../platform/metrics.ts';
import { redact } from '../platform/redact.ts';
import { claimInGroups, dueGroups } from './groups.ts';
import * as store from './store.ts';

/**
 * The durable queue: one job per kind and subject; scheduling it again moves it, also while it runs: then it runs again.
 *
 * States: waiting until `run_at`; leased by a process that runs it; deleted when its handler is done.
 * Guarantees: a job of a committed transaction runs at least once. If a process dies, another repeats its
 * jobs after LEASE_MS, so every handler must be safe to run again. Claims and ends of jobs are `unsynced`: a lost one
 * only repeats the job.
 * Concurrency: jobs without a group share MAX_UNGROUPED worker slots, which they hold only while they work (`withoutSlot`),
 * so that an operator that hangs does not delay buyers who pay with another one. Groups have slots of their own (groups.ts),
 * so that slow webhook receivers never delay payments.
 */
export type Jobs = ReturnType<typeof createJobs>;

/**
 * @param signal aborted when the process stops: return soon
 * @returns when to run again (ms since the epoch); null only if nothing is left to do, even if an earlier run of the job,
 * which was suspended, goes on now
 */
export type JobHandler = (subjectId: number, signal: AbortSignal) => Promise<number | null>;

/** Another process takes over within ten seconds, its next tick included. Three lost heartbeats cost no lease. */
const LEASE_MS = 8_000;
const HEARTBEAT_MS = 2_000;
/** Jobs without a group, per process, that work at a time. */
const MAX_UNGROUPED = 16;
/** Jobs without a group, per process, those included that wait for another system. */
const MAX_OPEN = 500;
/** For one system. The HTTP client has more connections per host. */
const MAX_WAITING = 200;
/** Longest sleep between ticks: other processes add work, and tests move the clock. */
const MAX_SLEEP_MS = 250;
/** Records further in the future mean that the machine's clock was set back. */
const CLOCK_STEP_MS = 5_000;
const MAX_BACKOFF_MS = 60_000;

interface RunningJob {
	task: Promise<void>;
	isGrouped: boolean;
	/** The system that it waits for; a job that waits holds no slot. */
	waitsFor: string | null;
}

/** No name of another system. */
const OWN_EARLIER_RUN = 'its earlier run';

/** The job whose handler runs. */
const CURRENT = new AsyncLocalStorage<RunningJob>();

type JobsContext = ReturnType<typeof newContext>;

const newContext = (database: Database, clock: Clock, log: Log, metrics: Metrics) => ({
	...{ database, clock, log, metrics },
	/** Names this process in leases. */
	owner: randomUUID() as string,
	running: new Map<number, RunningJob>(),
	stopping: new AbortController(),
	handlers: {} as Record<string, JobHandler>,
	isClockChecked: false,
	isStopped: false,
	/** When leases of dead processes were last looked for. */
	freedAt: -Infinity,
	/** Ends the pause before the next tick. */
	nudged: new AbortController()
});

export function createJobs(database: Database, clock: Clock, log: Log, metrics: Metrics = NO_METRICS) {
	const context = newContext(database, clock, log, metrics);
	const { owner, running, stopping } = context;
	let heartbeat: NodeJS.Timeout | undefined;
	/** Starts due jobs now instead of at the next tick. */
	const nudge = () => context.nudged.abort();
	let loop: Promise<void> | undefined;

	async function schedule(
		queries: Queries,
		jobs: Omit<Parameters<typeof store.schedule>[1], 'now'>
	): Promise<void> {
		const now = clock.now();
		await store.schedule(queries, { ...jobs, now });
		if (jobs.runAt > now) return;
		if (queries.isTransaction) afterCommit(queries as Tx, nudge);
		else nudge();
	}

	return {
		/** Schedules a job in the caller's transaction. A due one starts at once after the commit. */
		schedule: (queries: Queries, kind: string, subjectId: number, runAt: number) =>
			schedule(queries, { kind, subjectIds: [subjectId], groupId: null, runAt }),
		/** Schedules jobs that share the concurrency limit of a group. */
		scheduleInGroup: (
			queries: Queries,
			kind: string,
			groupId: number,
			subjectIds: readonly number[],
			runAt: number
		) => schedule(queries, { kind, subjectIds, groupId, runAt }),
		/** Makes a job due now, creating it if needed, and starts it. */
		wake: (kind: string, subjectId: number) =>
			schedule(database.db, { kind, subjectIds: [subjectId], groupId: null, runAt: clock.now() }),
		/**
		 * Calls another system. The job that calls holds no slot until the answer is there.
		 * @returns `crowded`, without a call, if MAX_WAITING others wait for the same system: it hangs
		 */
		async withoutSlot<T>(system: string, call: () => Promise<T>, crowded: T): Promise<T> {
			const job = CURRENT.getStore();
			if (!job) return call();
			const others = [...running.values()].filter(({ waitsFor }) => waitsFor === system).length;
			if (others >= MAX_WAITING) return crowded;
			const wasFull = working(running) >= MAX_UNGROUPED;
			job.waitsFor = system;
			if (wasFull) nudge();
			try {
				return await call();
			} finally {
				job.waitsFor = null;
			}
		},
		/** Counts due jobs by kind, at most 1,000, and due groups. */
		async due() {
			const now = clock.now();
			return { kinds: await store.dueKinds(database.db, now), groups: await dueGroups(database.db, now) };
		},
		start(handlers: Record<string, JobHandler>): void {
			context.handlers = handlers;
			heartbeat = setInterval(() => {
				if (running.size === 0) return;
				const lease = { owner, ids: [...running.keys()], until: clock.now() + LEASE_MS };
				store.extendLeases(database, lease).catch((error: unknown) => {
					log.warn({ err: error }, 'leases not extended');
				});
			}, HEARTBEAT_MS);
			loop = claimJobs(context);
		},
		/** Takes no new jobs, aborts the handlers' signal and waits for running handlers. */
		async stop(): Promise<void> {
			context.isStopped = true;
			nudge();
			await loop;
			stopping.abort();
			await Promise.allSettled([...running.values()].map(({ task }) => task));
			clearInterval(heartbeat);
		}
	};
}

async function run(context: JobsContext, job: store.Job): Promise<void> {
	const { database, clock, log, metrics } = context;
	const { kind, subject_id: subjectId } = job;
	try {
		const handler = context.handlers[kind];
		if (!handler) throw new Error(`No handler for job ${kind}`);
		const again = await handler(subjectId, context.stopping.signal);
		if (again === null) await store.complete(database, job);
		else await store.reschedule(database, job, { runAt: again, error: null });
	} catch (error) {
		log.error({ err: error, job: kind, subject: subjectId }, 'job failed; it will run again');
		metrics.count('airtill_job_failures_total', { kind });
		const runAt = clock.now() + Math.min(MAX_BACKOFF_MS, 500 * 2 ** Math.min(job.attempts, 10));
		const message = error instanceof Error ? error.message : String(error);
		// If this fails too (database gone), the lease runs out and the job is taken again.
		await store.reschedule(database, job, { runAt, error: redact(message).slice(0, 500) }).catch(() => {});
	}
}

function launch(context: JobsContext, job: store.Job): void {
	const { running } = context;
	// After a clock jump, a lease can end while its job runs here: finish that run first.
	const earlier = running.get(job.id)?.task;
	const before = earlier ?? Promise.resolve();
	const waitsFor = earlier ? OWN_EARLIER_RUN : null;
	const entry: RunningJob = { task: before, isGrouped: job.group_id !== null, waitsFor };
	running.set(job.id, entry);
	entry.task = before
		.then(() => {
			entry.waitsFor = null;
			return CURRENT.run(entry, () => run(context, job));
		})
		.finally(() => {
			if (running.get(job.id) === entry) running.delete(job.id);
			context.nudged.abort();
		});
}

async function claimJobs(context: JobsContext): Promise<void> {
	while (!context.isStopped) {
		// A nudge during the tick also ends the pause after it.
		context.nudged = new AbortController();
		const pause = await tick(context).catch((error: unknown) => {
			context.log.error({ err: error }, 'jobs cannot be read; trying again');
			return MAX_SLEEP_MS;
		});
		if (pause > 0) await sleep(pause, undefined, { signal: context.nudged.signal }).catch(() => {});
	}
}

const working = (running: JobsContext['running']): number =>
	[...running.values()].filter((one) => !one.isGrouped && one.waitsFor === null).length;

/** Claims and starts due jobs. Returns how long to sleep in ms. */
async function tick(context: JobsContext): Promise<number> {
	const { database, clock, owner, running } = context;
	if (!context.isClockChecked) await checkClock(context);
	const now = clock.now();
	if (Math.abs(now - context.freedAt) >= MAX_SLEEP_MS) {
		await store.freeExpired(database, now);
		context.freedAt = now;
	}
	const lease = { owner, now, until: now + LEASE_MS };
	const groupedCount = [...running.values()].filter(({ isGrouped }) => isGrouped).length;
	const free = Math.min(MAX_UNGROUPED - working(running), MAX_OPEN - (running.size - groupedCount));
	const { nextAt, hasGroups } = await store.waiting(database);
	// Read first: on SQLite a claim takes the lock that all writers share, even if nothing is due.
	const isDue = free > 0 && nextAt !== null && nextAt <= now;
	const single = isDue ? await store.claimDue(database, lease, free) : [];
	// Launch before reading the groups: a claimed job that is not launched waits until its lease runs out.
	for (const job of single) launch(context, job);
	const grouped = hasGroups
		? await claimInGroups(database, lease, groupedCount)
		: { claimed: [], nextAt: null };
	for (const job of grouped.claimed) launch(context, job);
	if (single.length + grouped.claimed.length > 0) return 0;
	const later = [nextAt ?? Infinity, grouped.nextAt ?? Infinity].filter((at) => at > now);
	return Math.min(MAX_SLEEP_MS, Math.max(1, Math.min(...later) - clock.now()));
}

/** Runs all jobs once if the clock was set back before this process started (platform/clock.ts). */
async function checkClock(context: JobsContext): Promise<void> {
	const { database, clock, log } = context;
	const now = clock.now();
	const newest = await newestRecordAt(database);
	if (newest !== null && newest > now + CLOCK_STEP_MS) {
		const seconds = Math.round((newest - now) / 1000);
		log.warn({ seconds }, 'the clock was set back; all jobs run now');
		await store.makeAllDue(database, now, now + LEASE_MS);
	}
	context.isClockChecked = true;
}
