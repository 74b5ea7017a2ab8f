import { sql, type Selectable } from 'kysely';
import type { Database, Queries } from '../db/database.ts';
import type { JobsTable } from '../db/schema.ts';

export type Job = Selectable<JobsTable>;

/** Puts work on the list, or moves it when it is already there. At most one job per kind and subject. */
export async function schedule(
	queries: Queries,
	job: { kind: string; subjectId: number; runAt: number; now: number }
): Promise<void> {
	await queries
		.insertInto('jobs')
		.values({ kind: job.kind, subject_id: job.subjectId, run_at: job.runAt, created_at: job.now })
		.onConflict((conflict) =>
			conflict.columns(['kind', 'subject_id']).doUpdateSet({
				run_at: job.runAt,
				wakes: sql`jobs.wakes + 1`
			})
		)
		.execute();
}

/** Takes due jobs for `owner` until `leaseUntil`; a job whose lease ran out (its process died) is due again. */
export async function claimDue(
	database: Database,
	lease: { owner: string; now: number; until: number; limit: number }
): Promise<Job[]> {
	return database.db
		.updateTable('jobs')
		.set({
			lease_owner: lease.owner,
			lease_until: lease.until,
			attempts: sql`attempts + 1`
		})
		.where(
			'id',
			'in',
			sql<number>`(select id from jobs where run_at <= ${lease.now}
				and (lease_until is null or lease_until <= ${lease.now})
				order by run_at, id limit ${lease.limit} ${database.lockClaimed})`
		)
		.returningAll()
		.execute();
}

export async function extendLease(database: Database, job: Job, until: number): Promise<void> {
	await database.db
		.updateTable('jobs')
		.set({ lease_until: until })
		.where('id', '=', job.id)
		.where('lease_owner', '=', job.lease_owner)
		.execute();
}

/** Removes a finished job, unless something woke it while it ran: then it is due again. */
export async function complete(database: Database, job: Job): Promise<void> {
	const removed = await database.db
		.deleteFrom('jobs')
		.where('id', '=', job.id)
		.where('lease_owner', '=', job.lease_owner)
		.where('wakes', '=', job.wakes)
		.executeTakeFirst();
	if (removed.numDeletedRows === 0n) await release(database, job);
}

/** Gives a job back for a later run; a wake-up that came meanwhile keeps its earlier time. */
export async function reschedule(
	database: Database,
	job: Job,
	next: { runAt: number; error: string | null; resetAttempts: boolean }
): Promise<void> {
	await database.db
		.updateTable('jobs')
		.set({
			run_at: sql`case when wakes = ${job.wakes} then ${next.runAt} else run_at end`,
			lease_owner: null,
			lease_until: null,
			last_error: next.error,
			...(next.resetAttempts ? { attempts: 0 } : {})
		})
		.where('id', '=', job.id)
		.where('lease_owner', '=', job.lease_owner)
		.execute();
}

async function release(database: Database, job: Job): Promise<void> {
	await database.db
		.updateTable('jobs')
		.set({ lease_owner: null, lease_until: null })
		.where('id', '=', job.id)
		.where('lease_owner', '=', job.lease_owner)
		.execute();
}

/** Makes all jobs due and frees all leases that end later than they can: the clock was set back. */
export async function makeAllDue(database: Database, now: number, leaseUntil: number): Promise<void> {
	await database.db
		.updateTable('jobs')
		.set({
			run_at: sql`case when run_at > ${now} then ${now} else run_at end`,
			lease_until: sql`case when lease_until > ${leaseUntil} then ${leaseUntil} else lease_until end`,
			wakes: sql`wakes + 1`
		})
		.execute();
}

/** Earliest moment at which a job may be taken, or null when there is none. */
export async function nextRunAt(database: Database): Promise<number | null> {
	const result = await sql<{ at: number | null }>`
		select min(case when lease_until is null or lease_until < run_at then run_at else lease_until end) as at
		from jobs`.execute(database.db);
	return result.rows[0]?.at ?? null;
}
