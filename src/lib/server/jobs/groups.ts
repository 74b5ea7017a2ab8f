import { sql } from 'kysely';
import type { Database, Queries } from '../db/database.ts';
import { claimInGroup, GROUPED, type Job, type Lease } from './store.ts';

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
/** Arbitrary but fixed: identifies the claims among the locks of this program. */
const CLAIM_LOCK = 7_243_002;

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
export async function claimInGroups(database: Database, lease: Lease, running: number): Promise<Claim> {
	const waiting = await waitingGroups(database.db);
	const isDue = (group: Group) => group.due_at <= lease.now && group.running < MAX_PER_GROUP;
	const later = waiting.map(({ due_at }) => due_at).filter((at) => at > lease.now);
	const nextAt = later.length > 0 ? Math.min(...later) : null;
	if (running >= MAX_GROUPED || !waiting.some(isDue)) return { claimed: [], nextAt };

	// The database's own isolation level: serializable claims would make purchases fail and run again.
	const claimed = await database.unsynced.transaction().execute(async (trx) => {
		// One process claims at a time and counts earlier claims, so that limits hold for all processes.
		await database.lock(trx, CLAIM_LOCK);
		const due = (await waitingGroups(trx)).filter(isDue);
		due.sort((one, other) => one.running - other.running || one.due_at - other.due_at);
		const jobs: Job[] = [];
		for (const group of due) {
			const free = MAX_GROUPED - running - jobs.length;
			const open = Math.max(free - RESERVED, free > 0 && group.running === 0 ? 1 : 0);
			const limit = Math.min(MAX_PER_GROUP - group.running, open);
			if (limit > 0) jobs.push(...(await claimInGroup(trx, group.id, lease, limit)));
		}
		return jobs;
	});
	return { claimed, nextAt };
}

export async function dueGroups(queries: Queries, now: number) {
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
