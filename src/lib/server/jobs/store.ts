import { sql, type RawBuilder, type Selectable } from 'kysely';
import type { Database, Queries } from '../db/database.ts';
import { exists } from '../db/first.ts';
import type { JobsTable } from '../db/schema.ts';

export type Job = Selectable<JobsTable>;

export interface Lease {
	owner: string;
	now: number;
	until: number;
}

/** Rows per insert: SQLite takes 32,766 parameters. */
const BATCH = 1_000;

export async function schedule(
	queries: Queries,
	jobs: { kind: string; subjectIds: readonly number[]; groupId: number | null; runAt: number; now: number }
): Promise<void> {
	const { kind, subjectIds, groupId, runAt, now } = jobs;
	for (let from = 0; from < subjectIds.length; from += BATCH) {
		await queries
			.insertInto('jobs')
			.values(
				subjectIds.slice(from, from + BATCH).map((subjectId) => ({
					kind,
					subject_id: subjectId,
					group_id: groupId,
					run_at: runAt,
					created_at: now
				}))
			)
			.onConflict((conflict) =>
				conflict.columns(['kind', 'subject_id']).doUpdateSet({
					run_at: runAt,
					wakes: sql`jobs.wakes + 1`
				})
			)
			.execute();
	}
}

// Written as in the partial indexes of migration 0022, which parameters would not match.
const FREE = sql<boolean>`lease_until is null and group_id is null`;

export const GROUPED = sql<boolean>`lease_until is null and group_id is not null`;

/** Reads when the first free job is due, and whether jobs of groups wait. One statement, because every tick reads it. */
export async function waiting({ db }: Database): Promise<{ nextAt: number | null; hasGroups: boolean }> {
	const { rows } = await sql<{ next_at: number | null; group_id: number | null }>`
		select (select min(run_at) from jobs where ${FREE}) as next_at,
			(select min(group_id) from jobs where ${GROUPED}) as group_id`.execute(db);
	return { nextAt: rows[0]?.next_at ?? null, hasGroups: rows[0]?.group_id != null };
}

/** Leases due jobs. @param which those of one group, or FREE ones */
const claim = (
	queries: Queries,
	{ owner, now, until }: Lease,
	which: RawBuilder<unknown>,
	limit: number,
	lock: RawBuilder<unknown> = sql``
): Promise<Job[]> =>
	queries
		.updateTable('jobs')
		.set({ lease_owner: owner, lease_until: until, attempts: sql<number>`attempts + 1` })
		.where(
			'id',
			'in',
			sql<number>`(select id from jobs where ${which} and run_at <= ${now} order by run_at, id limit ${limit} ${lock})`
		)
		.returningAll()
		.execute();

export const claimDue = (database: Database, lease: Lease, limit: number) =>
	claim(database.unsynced, lease, FREE, limit, database.lockClaimed);

export const claimInGroup = (queries: Queries, groupId: number, lease: Lease, limit: number) =>
	claim(queries, lease, sql`group_id = ${groupId} and ${GROUPED}`, limit);

const MAX_COUNTED = 1_000;

export async function dueKinds(
	queries: Queries,
	now: number
): Promise<{ kind: string; count: number; oldest: number }[]> {
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

export async function freeExpired(database: Database, now: number): Promise<void> {
	const expired = database.db.selectFrom('jobs').select('id').where('lease_until', '<=', now);
	if (!(await exists(expired))) return;
	await database.unsynced.updateTable('jobs').set(RELEASED).where('lease_until', '<=', now).execute();
}

/** Extends the leases of running jobs only. Those of a failed claim or release must run out. */
export const extendLeases = (
	database: Database,
	{ owner, ids, until }: { owner: string; ids: readonly number[]; until: number }
) =>
	database.unsynced
		.updateTable('jobs')
		.set({ lease_until: until })
		.where('id', 'in', ids)
		.where('lease_until', 'is not', null)
		.where('lease_owner', '=', owner)
		.execute();

/** Deletes a finished job, unless something woke it while it ran: then it is due again. */
export async function complete(database: Database, job: Job): Promise<void> {
	const deleted = await database.unsynced
		.deleteFrom('jobs')
		.where('id', '=', job.id)
		.where('lease_owner', '=', job.lease_owner)
		.where('wakes', '=', job.wakes)
		.executeTakeFirst();
	if (deleted.numDeletedRows > 0n) return;
	await database.unsynced
		.updateTable('jobs')
		.set({ ...RELEASED, attempts: 0, last_error: null })
		.where('id', '=', job.id)
		.where('lease_owner', '=', job.lease_owner)
		.execute();
}

/** Releases a job for a later run. If it was scheduled while it ran, that time stays. */
export const reschedule = (database: Database, job: Job, next: { runAt: number; error: string | null }) =>
	database.unsynced
		.updateTable('jobs')
		.set({
			...RELEASED,
			run_at: sql`case when wakes = ${job.wakes} then ${next.runAt} else run_at end`,
			last_error: next.error,
			...(next.error === null && { attempts: 0 })
		})
		.where('id', '=', job.id)
		.where('lease_owner', '=', job.lease_owner)
		.execute();

/** Makes all jobs due and shortens leases that end later than `leaseUntil`. */
export const makeAllDue = (database: Database, now: number, leaseUntil: number) =>
	database.db
		.updateTable('jobs')
		.set({
			run_at: sql`case when run_at > ${now} then ${now} else run_at end`,
			lease_until: sql`case when lease_until > ${leaseUntil} then ${leaseUntil} else lease_until end`,
			wakes: sql`wakes + 1`
		})
		.execute();
