import { hold, lockName } from './db/locks.ts';
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { newestRecordAt } from './db/inspect.ts';
import type { Clock } from './platform/clock.ts';
import { type Database, type Queries, type Tx, type Writer, afterCommit } from './db/database.ts';
import { Forbidden } from './platform/errors.ts';
import { type Log, redact } from './platform/log.ts';
import { type Metrics, NO_METRICS } from './platform/metrics.ts';
import { type RawBuilder, sql } from 'kysely';
import type { Row } from './db/schema.ts';

/**
 * The durable queue: one job per kind and subject; scheduling it again moves it, also while it runs: then it runs again.
 *
 * States: waiting until `run_at`; leased by a process that runs it; deleted when its handler is done.
 * Guarantees: a job of a committed transaction runs at least once. If a process dies, another repeats its
 * jobs after LEASE_MS, so every handler must be safe to run again. Claims and ends of jobs are `unsynced`: a lost one
 * only repeats the job.
 * Hand-over: a process takes a due job that it schedules with the transaction that schedules it (`mayTake`), and runs it after
 * the commit. Nobody claims it, and if the process dies before, the lease runs out as after a claim.
 * Fence: a process that stands still for longer than its lease goes on beside the run that took over. Each run has its own
 * token (`lease_owner`), and its transactions commit only while the job's row has it (src/docs/decisions/one-fence.md).
 * Concurrency: jobs without a group share MAX_UNGROUPED worker slots, which they hold only while they work (`withoutSlot`),
 * so that an operator that hangs does not delay buyers who pay with another one. Groups have slots of their own,
 * so that slow webhook receivers never delay payments.
 */
export type Jobs = ReturnType<typeof createJobs>;

interface Run {
	subjectId: number;
	/** Aborted when the process stops: return soon. */
	signal: AbortSignal;
	database: FencedDatabase;
}

/** @returns when to run again (ms since the epoch); null if nothing is left to do */
type JobHandler = (run: Run) => Promise<number | null>;

export type JobHandlers = Record<string, JobHandler>;

/** Stores nothing for a run that has lost its lease: `transact` throws (`isLeaseLost`). */
export interface FencedDatabase extends Writer {
	/** Without the fence: for what the next run cannot learn again. Say why at each use. */
	unfenced: Database;
}

/** The context as handlers get it. */
export type Fenced<C extends { database: Database }> = Omit<C, 'database'> & { database: FencedDatabase };

/** Another run may have begun. The runner ends this one without an error. */
export const isLeaseLost = (error: unknown) => error instanceof Forbidden && error.reason === LEASE_LOST;

const LEASE_LOST = 'lease_lost';

/** Waits for the work of a run. If another run has taken over, repairs what this one did, or learned, too late. */
export async function repairIfLost<T>(work: Promise<T>, repair: () => Promise<unknown>): Promise<T> {
	try {
		return await work;
	} catch (error) {
		if (isLeaseLost(error)) await repair();
		throw error;
	}
}

/** Makes handlers that get the context with the fenced database of their run, and the job's subject. */
export const fenceHandlers = <C extends { database: Database }>(
	context: C,
	handlers: Record<
		string,
		(context: Fenced<C>, subjectId: number, signal: AbortSignal) => Promise<number | null>
	>
): JobHandlers =>
	Object.fromEntries(
		Object.entries(handlers).map(([kind, handle]): [string, JobHandler] => [
			kind,
			({ subjectId, signal, database }) => handle({ ...context, database }, subjectId, signal)
		])
	);

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
	job: Job;
	task: Promise<void>;
	/** The system that it waits for; a job that waits holds no slot. */
	waitsFor: string | null;
}

/** The job whose handler runs. */
const CURRENT = new AsyncLocalStorage<RunningJob>();

type JobsContext = ReturnType<typeof newContext>;

const newContext = (database: Database, clock: Clock, log: Log, metrics: Metrics) => ({
	...{ database, clock, log, metrics },
	running: new Set<RunningJob>(),
	stopping: new AbortController(),
	handlers: {} as JobHandlers,
	isClockChecked: false,
	isStopped: false,
	/** When leases of dead processes were last looked for. */
	freedAt: -Infinity,
	/** Ends the pause before the next tick. */
	nudged: new AbortController(),
	/** Runs something as a part of no request and no job; null before the start. */
	runOutside: null as ReturnType<typeof AsyncLocalStorage.snapshot> | null,
	/** Jobs that a transaction takes with its commit. */
	taken: new WeakMap<Queries, Job[]>()
});

export function createJobs(database: Database, clock: Clock, log: Log, metrics: Metrics = NO_METRICS) {
	const context = newContext(database, clock, log, metrics);
	const { running, stopping } = context;
	let heartbeat: NodeJS.Timeout | undefined;
	/** Starts due jobs now instead of at the next tick. */
	const nudge = () => context.nudged.abort();
	let loop: Promise<void> | undefined;

	async function schedule(queries: Queries, jobs: readonly Scheduled[]) {
		const now = clock.now();
		const rows = jobs.map(({ kind, subjectId, groupId = null, runAt }) => ({
			...{ kind, subject_id: subjectId, group_id: groupId, run_at: runAt, created_at: now, attempts: 0 },
			...(runAt <= now && mayTake(context, groupId) ? { ...newLease(now), attempts: 1 } : RELEASED)
		}));
		const leased = await insertJobs(queries, rows);
		const starts = rows.map(({ kind, subject_id: subject, run_at: runAt, lease_owner: owner }) => {
			if (runAt > now) return null;
			const job = leased.find((one) => one.kind === kind && one.subject_id === subject);
			return owner !== null && job ? takeOnCommit(context, queries, job, owner) : nudge;
		});
		for (const start of new Set(starts)) {
			if (queries.isTransaction && start) afterCommit(queries as Tx, start);
			else start?.();
		}
	}

	return {
		/** Schedules a job in the caller's transaction. A due one starts at once after the commit. */
		schedule: (queries: Queries, kind: string, subjectId: number, runAt: number) =>
			schedule(queries, [{ kind, subjectId, runAt }]),
		/** The same for several jobs of different kinds or subjects, in one statement. */
		scheduleAll: schedule,
		/** Makes a job due now, creating it if needed, and starts it. */
		wake: (kind: string, subjectId: number) =>
			schedule(database.db, [{ kind, subjectId, runAt: clock.now() }]),
		/**
		 * Calls another system. The job that calls holds no slot until the answer is there.
		 * @returns `crowded`, without a call, if MAX_WAITING others wait for the same system: it hangs
		 */
		async withoutSlot<T>(system: string, call: () => Promise<T>, crowded: T): Promise<T> {
			const job = CURRENT.getStore();
			if (!job) return call();
			const others = [...running].filter(({ waitsFor }) => waitsFor === system).length;
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
			return { kinds: await dueKinds(database.db, now), groups: await dueGroups(database.db, now) };
		},
		start(handlers: JobHandlers): void {
			context.handlers = handlers;
			heartbeat = setInterval(() => {
				if (running.size === 0) return;
				extendLeases(context).catch((error: unknown) => {
					log.warn({ err: error }, 'leases not extended');
				});
			}, HEARTBEAT_MS);
			context.runOutside = AsyncLocalStorage.snapshot();
			loop = claimJobs(context);
		},
		/** Takes no new jobs, aborts the handlers' signal and waits for running handlers. */
		async stop(): Promise<void> {
			context.isStopped = true;
			nudge();
			await loop;
			stopping.abort();
			await Promise.allSettled([...running].map(({ task }) => task));
			clearInterval(heartbeat);
		}
	};
}

/**
 * Whether this process runs a job that it schedules without claiming it: the transaction that schedules it stores the lease,
 * too. Jobs of groups are counted over all processes, and others may be full.
 */
const mayTake = ({ isStopped, runOutside, running }: JobsContext, groupId: number | null) =>
	runOutside !== null && !isStopped && groupId === null && countFree(running) > 0;

/** @returns starts the job, if it was free, once it is committed */
function takeOnCommit(context: JobsContext, queries: Queries, job: Job, owner: string | null): () => void {
	const taken = context.taken.get(queries) ?? [];
	context.taken.set(queries, taken);
	const known = taken.findIndex(({ id, lease_owner }) => id === job.id && lease_owner === job.lease_owner);
	// Scheduled twice in one transaction: it runs once.
	if (known >= 0) taken[known] = job;
	else if (job.lease_owner === owner) taken.push(job);
	return () => context.runOutside?.(() => taken.splice(0).forEach((one) => launch(context, one)));
}

async function run(context: JobsContext, job: Job): Promise<void> {
	const { database, clock, log, metrics } = context;
	const { kind, subject_id: subjectId } = job;
	try {
		const handler = context.handlers[kind];
		if (!handler) throw new Error(`No handler for job ${kind}`);
		const signal = context.stopping.signal;
		const again = await handler({ subjectId, signal, database: fenceDatabase(database, job) });
		const nextAt =
			again === null
				? await complete(database, job)
				: await reschedule(database, job, { runAt: again, error: null });
		if (nextAt !== null && nextAt < clock.now() + MAX_SLEEP_MS) context.nudged.abort();
	} catch (error) {
		const runAt = clock.now() + Math.min(MAX_BACKOFF_MS, 500 * 2 ** Math.min(job.attempts, 10));
		const message = error instanceof Error ? error.message : String(error);
		// If this fails too (database gone), the lease runs out and the job is taken again.
		const nextAt = await reschedule(database, job, { runAt, error: redact(message).slice(0, 500) }).catch(
			() => runAt
		);
		if (isLeaseLost(error) || nextAt === null) {
			log.info({ job: kind, subject: subjectId }, 'job taken over by another run; this one ends');
			return;
		}
		log.error({ err: error, job: kind, subject: subjectId }, 'job failed; it will run again');
		metrics.count('airtill_job_failures_total', { kind });
	}
}

function fenceDatabase(database: Database, job: Job): FencedDatabase {
	const fence =
		<T>(work: (trx: Tx) => Promise<T>) =>
		async (trx: Tx): Promise<T> => {
			const result = await work(trx);
			// Last: transactions lock jobs after other rows, in the order of `schedule`, which prevents deadlocks.
			await holdLease(trx, job);
			return result;
		};
	return {
		db: database.db,
		transact: (work) => database.transact(fence(work)),
		unfenced: database
	};
}

/** Locks the job's row until the commit, so that nobody takes the job over before. @throws Forbidden */
async function holdLease(trx: Tx, { id, kind, subject_id, lease_owner }: Job): Promise<void> {
	const own = trx.selectFrom('jobs').select('id').where('id', '=', id).where('lease_owner', '=', lease_owner);
	if (await hold(trx, own).executeTakeFirst()) return;
	throw new Forbidden<typeof LEASE_LOST>(LEASE_LOST, `Job ${kind} ${subject_id} has been taken over`);
}

function launch(context: JobsContext, job: Job): void {
	const { running } = context;
	const entry: RunningJob = { job, task: Promise.resolve(), waitsFor: null };
	running.add(entry);
	entry.task = CURRENT.run(entry, () => run(context, job)).finally(() => {
		// Otherwise no job waited for this one's place.
		const wasFull = job.group_id !== null || countFree(running) <= 0;
		running.delete(entry);
		if (wasFull) context.nudged.abort();
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
	[...running].filter(({ job, waitsFor }) => job.group_id === null && waitsFor === null).length;

/** How many jobs without a group may start. */
function countFree(running: JobsContext['running']): number {
	const ungrouped = [...running].filter(({ job }) => job.group_id === null).length;
	return Math.min(MAX_UNGROUPED - working(running), MAX_OPEN - ungrouped);
}

/** Claims and starts due jobs. Returns how long to sleep in ms. */
async function tick(context: JobsContext): Promise<number> {
	const { database, clock, running } = context;
	if (!context.isClockChecked) await checkClock(context);
	const now = clock.now();
	let waiting = await findWaiting(database);
	const isExpired = waiting.leasedUntil !== null && waiting.leasedUntil <= now;
	if (isExpired && Math.abs(now - context.freedAt) >= MAX_SLEEP_MS) {
		context.freedAt = now;
		await freeExpired(context, now);
		waiting = await findWaiting(database);
	}
	const { nextAt, hasGroups } = waiting;
	const { lease_owner: owner, lease_until: until } = newLease(now);
	const lease = { owner, now, until };
	const groupedCount = [...running].filter(({ job }) => job.group_id !== null).length;
	const free = countFree(running);
	// Read first: on SQLite a claim takes the lock that all writers share, even if nothing is due.
	const isDue = free > 0 && nextAt !== null && nextAt <= now;
	const single = isDue ? await claim(database.unsynced, lease, FREE, free, database.lockClaimed) : [];
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
		await makeAllDue(database, now, now + LEASE_MS);
	}
	context.isClockChecked = true;
}

/**
 * Claims jobs of groups.
 *
 * Purpose: one group (a webhook receiver that hangs, with a long backlog) must not delay another.
 * Policy: at most MAX_PER_GROUP jobs of a group run at a time over all processes. Groups with the
 * fewest running jobs go first. RESERVED slots of a process are for groups with nothing running,
 * one each.
 * Cost: one index step per group, however many jobs wait.
 */

/** Per group, over all processes. */
const MAX_PER_GROUP = 5;
/** Per process; most of these jobs only wait for a network. */
const MAX_GROUPED = 200;
const RESERVED = 100;

interface Claim {
	claimed: Job[];
	/** When the next group may be due, if known. */
	nextAt: number | null;
}

interface Group {
	id: number;
	due_at: number;
	running: number;
}

/** @param running jobs of groups that this process runs now */
async function claimInGroups(database: Database, lease: Lease, running: number): Promise<Claim> {
	const waiting = await waitingGroups(database.db);
	const isDue = (group: Group) => group.due_at <= lease.now && group.running < MAX_PER_GROUP;
	const later = waiting.map(({ due_at }) => due_at).filter((at) => at > lease.now);
	const nextAt = later.length > 0 ? Math.min(...later) : null;
	if (running >= MAX_GROUPED || !waiting.some(isDue)) return { claimed: [], nextAt };

	const claimed = await database.unsynced.transaction().execute(async (trx) => {
		// One process claims at a time and counts earlier claims, so that limits hold for all processes.
		await lockName(trx, 'claims of jobs');
		const due = (await waitingGroups(trx)).filter(isDue);
		due.sort((one, other) => one.running - other.running || one.due_at - other.due_at);
		const jobs: Job[] = [];
		for (const group of due) {
			const free = MAX_GROUPED - running - jobs.length;
			const open = Math.max(free - RESERVED, free > 0 && group.running === 0 ? 1 : 0);
			const limit = Math.min(MAX_PER_GROUP - group.running, open);
			const ofGroup = sql`group_id = ${group.id} and ${GROUPED}`;
			if (limit > 0) jobs.push(...(await claim(trx, lease, ofGroup, limit)));
		}
		return jobs;
	});
	return { claimed, nextAt };
}

async function dueGroups(queries: Queries, now: number) {
	const due = (await waitingGroups(queries)).filter(({ due_at }) => due_at <= now);
	return { count: due.length, oldest: Math.min(...due.map(({ due_at }) => due_at)) };
}

async function waitingGroups(queries: Queries): Promise<Group[]> {
	const { rows } = await sql<Group>`
		with recursive waiting (group_id) as (
			select min(group_id) from jobs where ${GROUPED}
			union all
			select (select min(group_id) from jobs where ${GROUPED} and group_id > waiting.group_id)
			from waiting where group_id is not null
		)
		select waiting.group_id as id,
			(select min(run_at) from jobs where ${GROUPED} and group_id = waiting.group_id) as due_at,
			(select count(*) from jobs where lease_until is not null and group_id = waiting.group_id) as running
		from waiting where group_id is not null`.execute(queries);
	return rows;
}

type Job = Row<'jobs'>;

interface Lease {
	/** Of one claim, so that it names one run of each job. */
	owner: string;
	now: number;
	until: number;
}

/** Rows per insert: SQLite takes 32,766 parameters. */
const BATCH = 1_000;

interface Scheduled {
	kind: string;
	subjectId: number;
	/** Jobs of a group share its concurrency limit. */
	groupId?: number;
	runAt: number;
}

type NewJob = Pick<
	Job,
	'kind' | 'subject_id' | 'group_id' | 'run_at' | 'created_at' | 'lease_owner' | 'lease_until' | 'attempts'
>;

const newLease = (now: number) => ({ lease_owner: randomUUID(), lease_until: now + LEASE_MS });

/** Schedules a job from where no queue is at hand: a process that runs jobs finds it at its next tick. */
export const storeJob = (queries: Queries, kind: string, subject_id: number, run_at: number) => {
	const unleased = { group_id: null, lease_owner: null, lease_until: null, attempts: 0 };
	return insertJobs(queries, [{ kind, subject_id, run_at, created_at: run_at, ...unleased }]);
};

/** Inserts or moves jobs. @returns them if one of them has a lease, which counts if nobody runs the job now */
async function insertJobs(queries: Queries, rows: readonly NewJob[]): Promise<Job[]> {
	const isLeased = rows.some(({ lease_owner: owner }) => owner !== null);
	const leased = {
		lease_owner: sql<string | null>`coalesce(jobs.lease_owner, excluded.lease_owner)`,
		lease_until: sql<number | null>`coalesce(jobs.lease_until, excluded.lease_until)`,
		attempts: sql<number>`jobs.attempts + case when jobs.lease_owner is null then excluded.attempts else 0 end`
	};
	const moved = { run_at: sql<number>`excluded.run_at`, wakes: sql<number>`jobs.wakes + 1` };
	const inserted: Job[] = [];
	for (let from = 0; from < rows.length; from += BATCH) {
		const insert = queries
			.insertInto('jobs')
			.values(rows.slice(from, from + BATCH))
			.onConflict((conflict) =>
				conflict.columns(['kind', 'subject_id']).doUpdateSet({ ...moved, ...(isLeased && leased) })
			);
		if (isLeased) inserted.push(...(await insert.returningAll().execute()));
		else await insert.execute();
	}
	return inserted;
}

// Written as in the partial indexes, which parameters would not match.
const FREE = sql<boolean>`lease_until is null and group_id is null`;

const GROUPED = sql<boolean>`lease_until is null and group_id is not null`;

/**
 * Reads when the first free job is due, whether jobs of groups wait, and when the first lease ends. One statement, because
 * every tick reads it.
 */
async function findWaiting({ db }: Database) {
	const { rows } = await sql<{
		next_at: number | null;
		group_id: number | null;
		leased_until: number | null;
	}>`
		select (select min(run_at) from jobs where ${FREE}) as next_at,
			(select min(group_id) from jobs where ${GROUPED}) as group_id,
			(select min(lease_until) from jobs where lease_until is not null) as leased_until`.execute(db);
	const [row] = rows;
	return {
		nextAt: row?.next_at ?? null,
		hasGroups: row?.group_id != null,
		leasedUntil: row?.leased_until ?? null
	};
}

/** Leases due jobs. @param which those of one group, or FREE ones */
const claim = (
	queries: Queries,
	{ owner, now, until }: Lease,
	which: RawBuilder<unknown>,
	limit: number,
	lock: RawBuilder<unknown> = sql``
) => {
	const due = sql<number>`(select id from jobs where ${which} and run_at <= ${now}
		order by run_at, id limit ${limit} ${lock})`;
	const leased = { lease_owner: owner, lease_until: until, attempts: sql<number>`attempts + 1` };
	return queries.updateTable('jobs').set(leased).where('id', 'in', due).returningAll().execute();
};

const MAX_COUNTED = 1_000;

export async function dueKinds(queries: Queries, now: number) {
	const due = queries
		.selectFrom('jobs')
		.select(['kind', 'run_at'])
		.where(FREE)
		.where('run_at', '<=', now)
		.orderBy('run_at')
		.limit(MAX_COUNTED);
	return queries
		.selectFrom(due.as('due'))
		.select(({ fn }) => ['kind', fn.countAll<number>().as('count'), fn.min('run_at').as('oldest')])
		.groupBy('kind')
		.execute();
}

const RELEASED = { lease_owner: null, lease_until: null } as const;

/** Frees the jobs of dead and suspended processes. This one is alive, also after a jump of the clock. */
async function freeExpired({ database, running }: JobsContext, now: number): Promise<void> {
	const expired = database.db
		.selectFrom('jobs')
		.select(['id', 'lease_owner'])
		.where('lease_until', '<=', now);
	const own = new Set([...running].map(({ job }) => `${job.id} ${job.lease_owner}`));
	const lost = (await expired.execute())
		.filter(({ id, lease_owner }) => !own.has(`${id} ${lease_owner}`))
		.map(({ id }) => id);
	if (lost.length === 0) return;
	await database.unsynced
		.updateTable('jobs')
		.set(RELEASED)
		.where('id', 'in', unlocked(database, lost))
		.where('lease_until', '<=', now)
		.execute();
}

/** Leaves out jobs whose run commits now: on PostgreSQL a suspended process would make this one wait. */
const unlocked = ({ lockClaimed }: Database, ids: readonly number[]) =>
	sql<number>`(select id from jobs where id in (${sql.join(ids)}) ${lockClaimed})`;

/** Extends the leases of running jobs only. Those of a failed claim or release must run out. */
async function extendLeases({ database, clock, running }: JobsContext): Promise<void> {
	const ids = [...running].map(({ job }) => job.id);
	const owners = [...running].map(({ job }) => job.lease_owner);
	await database.unsynced
		.updateTable('jobs')
		.set({ lease_until: clock.now() + LEASE_MS })
		.where('id', 'in', unlocked(database, ids))
		.where('lease_owner', 'in', owners)
		.execute();
}

/** Deletes a finished job, unless something woke it while it ran: then it runs again. @returns when; null if it is gone */
async function complete(database: Database, job: Job): Promise<number | null> {
	const deleted = await database.unsynced
		.deleteFrom('jobs')
		.where('id', '=', job.id)
		.where('lease_owner', '=', job.lease_owner)
		.where('wakes', '=', job.wakes)
		.executeTakeFirst();
	return deleted.numDeletedRows > 0n ? null : reschedule(database, job, { runAt: 0, error: null });
}

/**
 * Releases a job for a later run. If it was scheduled while it ran, that time stays.
 * @returns when it runs; null if another run has taken it over
 */
async function reschedule(database: Database, job: Job, next: { runAt: number; error: string | null }) {
	const released = await database.unsynced
		.updateTable('jobs')
		.set({
			...RELEASED,
			run_at: sql`case when wakes = ${job.wakes} then ${next.runAt} else run_at end`,
			last_error: next.error,
			...(next.error === null && { attempts: 0 })
		})
		.where('id', '=', job.id)
		.where('lease_owner', '=', job.lease_owner)
		.returning('run_at')
		.executeTakeFirst();
	return released?.run_at ?? null;
}

/** Makes all jobs due and shortens leases that end later than `leaseUntil`. */
const makeAllDue = (database: Database, now: number, leaseUntil: number) =>
	database.db
		.updateTable('jobs')
		.set({
			run_at: sql`case when run_at > ${now} then ${now} else run_at end`,
			lease_until: sql`case when lease_until > ${leaseUntil} then ${leaseUntil} else lease_until end`,
			wakes: sql`wakes + 1`
		})
		.execute();
