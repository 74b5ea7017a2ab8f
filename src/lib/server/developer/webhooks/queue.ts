import { sql } from 'kysely';
import type { Database, Queries } from '#lib/server/db/database.ts';
import * as store from './store.ts';

/**
 * Deliveries as a queue. Its fairness is in how it is read: not by time over all deliveries, but by endpoint, a few
 * of each; and where places get scarce, one for each account that has none. The conditions of the partial indexes stand in the SQL as they stand in the migration; a parameter in
 * their place would not find them.
 */

const PENDING = sql`status = 'pending' and lease_until is null`;
/** Arbitrary but fixed: names the lock of those who claim among PostgreSQL's advisory locks. */
const CLAIM_LOCK = 7_243_002;

/** Attempts at once to one endpoint, over all processes. */
export const MAX_PER_ENDPOINT = 5;
/** To one that has failed for a while: its time-outs shall not fill the places that others need. */
const MAX_PER_FAILING = 1;
const FAILING_AFTER_MS = 60_000;

export interface Claim {
	/** Names this claim; what comes of it is written only while it holds. */
	owner: string;
	now: number;
	leaseUntil: number;
	/** Places that are free. */
	limit: number;
	/** So many of them are kept for accounts that have nothing under way, one for each. */
	reserved: number;
}

interface Waiting {
	id: number;
	account_id: number;
	failing_since: number | null;
	due_at: number;
	running: number;
}

/** Active endpoints with something to send: one step of the index for each, however much waits behind it. */
async function waiting(queries: Queries): Promise<Waiting[]> {
	const result = await sql<Waiting>`
		with recursive waiting (endpoint_id) as (
			select min(endpoint_id) from webhook_deliveries where ${PENDING}
			union all
			select (select min(endpoint_id) from webhook_deliveries
				where ${PENDING} and endpoint_id > waiting.endpoint_id)
			from waiting where endpoint_id is not null
		)
		select e.id, e.account_id, e.failing_since,
			(select min(next_attempt_at) from webhook_deliveries where endpoint_id = e.id and ${PENDING}) as due_at,
			(select count(*) from webhook_deliveries where endpoint_id = e.id and lease_until is not null) as running
		from waiting join webhook_endpoints e on e.id = waiting.endpoint_id
		where e.status = 'active'`.execute(queries);
	return result.rows;
}

/** Attempts under way of each account that has any. */
async function runningByAccount(queries: Queries): Promise<Map<number, number>> {
	const rows = await queries
		.selectFrom('webhook_deliveries')
		.innerJoin('webhook_endpoints', 'webhook_endpoints.id', 'webhook_deliveries.endpoint_id')
		.select(({ fn }) => ['webhook_endpoints.account_id', fn.countAll<number>().as('running')])
		.where('webhook_deliveries.lease_until', 'is not', null)
		.groupBy('webhook_endpoints.account_id')
		.execute();
	return new Map(rows.map(({ account_id, running }) => [account_id, running]));
}

function places(endpoint: Waiting, now: number): number {
	const isFailing = endpoint.failing_since !== null && endpoint.failing_since < now - FAILING_AFTER_MS;
	return (isFailing ? MAX_PER_FAILING : MAX_PER_ENDPOINT) - endpoint.running;
}

/**
 * Takes due deliveries, those of the endpoints with the fewest under way first. However many receivers hang, they
 * are those of accounts that have something under way; the others still find a place.
 * @returns what was taken, and when the next may be due (null: nothing waits)
 */
export async function claim(
	database: Database,
	{ owner, now, leaseUntil, limit, reserved }: Claim
): Promise<{ claimed: store.DeliveryRow[]; nextAt: number | null }> {
	await freeExpired(database.db, now);
	const isDue = (endpoint: Waiting) => endpoint.due_at <= now && places(endpoint, now) > 0;
	const seen = await waiting(database.db);
	const later = seen.map(({ due_at }) => due_at).filter((at) => at > now);
	const nextAt = later.length > 0 ? Math.min(...later) : null;
	if (!seen.some(isDue)) return { claimed: [], nextAt };

	const claimed = await loosely(database.db, async (trx) => {
		// One process claims at a time, and counts what the one before it has taken: the limits hold for all of them.
		if (database.kind === 'postgres') await sql`select pg_advisory_xact_lock(${CLAIM_LOCK})`.execute(trx);
		const due = (await waiting(trx)).filter(isDue);
		due.sort((one, other) => one.running - other.running || one.due_at - other.due_at);
		const busy = await runningByAccount(trx);
		const taken: store.DeliveryRow[] = [];
		for (const endpoint of due) {
			const running = busy.get(endpoint.account_id) ?? 0;
			const free = limit - taken.length;
			if (free <= 0) break;
			const open = Math.max(free - reserved, running === 0 ? 1 : 0);
			const most = Math.min(places(endpoint, now), open);
			if (most <= 0) continue;
			const leased = await lease(trx, endpoint.id, { owner, now, leaseUntil, limit: most });
			busy.set(endpoint.account_id, running + leased.length);
			taken.push(...leased);
		}
		return taken;
	});
	return { claimed, nextAt };
}

async function lease(
	queries: Queries,
	endpointId: number,
	{ owner, now, leaseUntil, limit }: Omit<Claim, 'reserved'>
): Promise<store.DeliveryRow[]> {
	return queries
		.updateTable('webhook_deliveries')
		.set({ lease_owner: owner, lease_until: leaseUntil })
		.where(
			'id',
			'in',
			sql<number>`(select id from webhook_deliveries
				where endpoint_id = ${endpointId} and next_attempt_at <= ${now} and ${PENDING}
				order by next_attempt_at, id limit ${limit})`
		)
		.returningAll()
		.execute();
}

/** A process that died holds nothing for longer than its lease. */
async function freeExpired(queries: Queries, now: number): Promise<void> {
	const expired = await queries
		.selectFrom('webhook_deliveries')
		.select('id')
		.where('lease_until', '<=', now)
		.limit(1)
		.execute();
	// Looked at first: on SQLite a write that changes nothing still waits for its turn.
	if (expired.length === 0) return;
	await queries
		.updateTable('webhook_deliveries')
		.set({ lease_owner: null, lease_until: null })
		.where('lease_until', '<=', now)
		.execute();
}

/** Gives a delivery back as it was taken. */
export async function release(queries: Queries, delivery: store.DeliveryRow): Promise<void> {
	await queries
		.updateTable('webhook_deliveries')
		.set({ lease_owner: null, lease_until: null })
		.where('id', '=', delivery.id)
		.where('lease_owner', '=', delivery.lease_owner)
		.execute();
}

export async function endpoint(queries: Queries, id: number): Promise<store.EndpointRow | null> {
	const row = await queries
		.selectFrom('webhook_endpoints')
		.selectAll()
		.where('id', '=', id)
		.executeTakeFirst();
	return row ?? null;
}

export interface Attempt {
	startedAt: number;
	endedAt: number;
	durationMs: number;
	statusCode: number | null;
	failure: string | null;
	response: string | null;
	succeeded: boolean;
	/** When to try again; null: not at all. */
	nextAt: number | null;
	/** Whether it says anything about the endpoint's health. */
	counts: boolean;
}

/** How exact `last_success_at` is: the row is not written with every success, because every event reads it. */
const SUCCESS_NOTED_MS = 60_000;
const GONE = 410;

/** Writes what came of an attempt: the endpoint's health, the log, and what is next. */
export async function finish(
	database: Database,
	delivery: store.DeliveryRow,
	attempt: Attempt
): Promise<void> {
	await loosely(database.db, async (trx) => {
		// The endpoint first, as everybody does who changes both: no two of them wait for each other.
		await noteHealth(trx, delivery.endpoint_id, attempt);
		const isActive = (await endpoint(trx, delivery.endpoint_id))?.status === 'active';
		const nextAt = isActive ? attempt.nextAt : null;
		await trx
			.updateTable('webhook_deliveries')
			.set({
				status: attempt.succeeded ? 'delivered' : nextAt === null ? 'failed' : 'pending',
				next_attempt_at: attempt.succeeded ? null : nextAt,
				attempts: sql`attempts + 1`,
				tries: sql`tries + 1`,
				lease_owner: null,
				lease_until: null,
				last_status_code: attempt.statusCode,
				last_failure: attempt.failure,
				last_attempt_at: attempt.startedAt,
				updated_at: attempt.endedAt
			})
			.where('id', '=', delivery.id)
			.where('lease_owner', '=', delivery.lease_owner)
			.execute();
		// From the delivery: there is no attempt at one that was removed while it was sent.
		await sql`insert into webhook_attempts
				(delivery_id, started_at, duration_ms, status_code, failure, response)
			select id, cast(${attempt.startedAt} as bigint), cast(${attempt.durationMs} as bigint),
				cast(${attempt.statusCode} as bigint), cast(${attempt.failure} as text),
				cast(${attempt.response} as text)
			from webhook_deliveries where id = ${delivery.id}`.execute(trx);
	});
}

async function noteHealth(queries: Queries, id: number, attempt: Attempt): Promise<void> {
	const update = queries.updateTable('webhook_endpoints').where('id', '=', id);
	if (attempt.statusCode === GONE) {
		const disabled = await update
			.set({ status: 'disabled', disabled_reason: 'gone', notice: 'disabled', updated_at: attempt.endedAt })
			.where('status', '=', 'active')
			.executeTakeFirst();
		if (disabled.numUpdatedRows > 0n) await store.failPending(queries, id);
	} else if (attempt.succeeded) {
		await update
			.set({
				last_success_at: attempt.endedAt,
				failing_since: null,
				failing_noticed: 0,
				notice: sql`case when notice = 'failing' then null else notice end`
			})
			.where((where) =>
				where.or([
					where('failing_since', 'is not', null),
					where('last_success_at', 'is', null),
					where('last_success_at', '<', attempt.endedAt - SUCCESS_NOTED_MS)
				])
			)
			.execute();
	} else if (attempt.counts) {
		// The earliest of several that fail at once, whichever of them ends first: all of them count.
		await update
			.set({ failing_since: attempt.startedAt })
			.where((where) =>
				where.or([where('failing_since', 'is', null), where('failing_since', '>', attempt.startedAt)])
			)
			.execute();
	}
}

/**
 * The clock was set back by so much: what waits for a time that is now further away comes nearer by the same, and
 * no lease holds for longer than it can.
 */
export async function moveBack(
	queries: Queries,
	{ byMs, now, leaseUntil }: { byMs: number; now: number; leaseUntil: number }
): Promise<void> {
	await sql`update webhook_deliveries
		set next_attempt_at = case when next_attempt_at - ${byMs} < ${now} then ${now}
			else next_attempt_at - ${byMs} end
		where status = 'pending' and next_attempt_at > ${now}`.execute(queries);
	await sql`update webhook_deliveries set lease_until = ${leaseUntil}
		where lease_until is not null and lease_until > ${leaseUntil}`.execute(queries);
}

/**
 * A transaction at the database's own level. The serializable ones of `database.transact` would have purchases,
 * which read the endpoints, fail and run again because of what is written here.
 */
const loosely = <T>(db: Queries, work: (trx: Queries) => Promise<T>): Promise<T> =>
	db.transaction().execute(work);
