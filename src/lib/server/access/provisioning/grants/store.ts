import { sql, type Insertable, type Selectable, type Updateable } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import { exists, first, isChanged } from '#lib/server/db/first.ts';
import type { GrantsTable } from '#lib/server/db/schema.ts';

export type GrantRow = Selectable<GrantsTable>;

export const insertGrant = (queries: Queries, grant: Insertable<GrantsTable>): Promise<GrantRow> =>
	queries.insertInto('grants').values(grant).returningAll().executeTakeFirstOrThrow();

export const findGrant = (queries: Queries, id: number): Promise<GrantRow | null> =>
	first(queries.selectFrom('grants').selectAll().where('id', '=', id));

/** States of a grant that its pass wants, unless it was released. */
const WANTED = ['granting', 'granted'] as const;
/** States in which the gateway may let the device in. */
const OPEN = ['granting', 'granted', 'revoking'] as const;

export const openGrantsOf = (queries: Queries, passId: number): Promise<GrantRow[]> =>
	queries
		.selectFrom('grants')
		.selectAll()
		.where('pass_id', '=', passId)
		.where('state', 'in', OPEN)
		.orderBy('id')
		.execute();

/** The open grants that their pass wants. */
export const wantedGrantsOf = async (queries: Queries, passId: number): Promise<GrantRow[]> =>
	(await openGrantsOf(queries, passId)).filter(isWanted);

export const grantsOf = (queries: Queries, passId: number): Promise<GrantRow[]> =>
	queries.selectFrom('grants').selectAll().where('pass_id', '=', passId).orderBy('id').execute();

const change = (queries: Queries, id: number, to: Updateable<GrantsTable>) =>
	queries.updateTable('grants').set(to).where('id', '=', id);

/** Stores that the gateway has let in a device of the pass until then, whatever became of the grant since. */
export const setConfirmedEnd = (queries: Queries, id: number, endMs: number | null) =>
	change(queries, id, { confirmed_end_at: endMs }).execute();

/** Changes a grant unless it is over. Returns whether it did. */
export const changeOpen = (queries: Queries, id: number, to: Updateable<GrantsTable>): Promise<boolean> =>
	isChanged(change(queries, id, to).where('state', 'in', OPEN));

/** Changes a grant if its pass wants it, in the state and revision, and with the requested end, that the caller expects. */
export async function changeWanted(
	queries: Queries,
	{
		id,
		state,
		revision,
		requested_end_at
	}: { id: number; state?: 'granting' | 'granted'; revision?: number; requested_end_at?: number | null },
	to: Updateable<GrantsTable>
): Promise<boolean> {
	let query = change(queries, id, to)
		.where('state', 'in', state === undefined ? WANTED : [state])
		.where('released_at', 'is', null);
	if (revision !== undefined) query = query.where('revision', '=', revision);
	if (requested_end_at !== undefined) query = query.where(({ and }) => and({ requested_end_at }));
	return isChanged(query);
}

/** Revokes a grant that its gateway may have carried out late, unless the pass wants it. */
export const revokeAgain = (queries: Queries, id: number, now: number) =>
	queries
		.updateTable('grants')
		.set({ state: 'revoking', unanswered_at: now, updated_at: now })
		.where('id', '=', id)
		.where((row) =>
			row.or([
				row('state', 'in', ['revoking', 'revoked', 'failed']),
				row.and([row('state', 'in', WANTED), row('released_at', 'is not', null)])
			])
		)
		.execute();

/** Requests grants that their pass wants again. Earlier answers and calls in progress do not count. Returns their ids. */
export async function requestAgain(
	queries: Queries,
	which: { id: number } | { gatewayId: number; mac?: string; grantedBefore?: number },
	to: Updateable<GrantsTable>
): Promise<number[]> {
	let query = queries
		.updateTable('grants')
		.set({ state: 'granting', requested_end_at: null, granted_at: null, ...to })
		.set({ revision: sql<number>`revision + 1` })
		.where('state', 'in', WANTED)
		.where('released_at', 'is', null);
	if ('id' in which) query = query.where('id', '=', which.id);
	else {
		query = query.where('gateway_id', '=', which.gatewayId);
		if (which.mac !== undefined) query = query.where('mac', '=', which.mac);
		if (which.grantedBefore !== undefined) query = query.where('granted_at', '<', which.grantedBefore);
	}
	return (await query.returning('id').execute()).map(({ id }) => id);
}

/** A redirect of a device that was still offline can reach us this long after its grant. */
export const LATE_REDIRECT_MS = 30_000;

/** For a user, lists its other grants of the same pass. */
export function sameDevice(
	queries: Queries,
	grant: GrantRow,
	gatewayIds: readonly number[]
): Promise<GrantRow[]> {
	const others = queries
		.selectFrom('grants')
		.selectAll()
		.where('id', '<>', grant.id)
		.where('gateway_id', 'in', gatewayIds)
		.where('state', 'in', WANTED)
		.where('released_at', 'is', null)
		.orderBy('id')
		.limit(MAX_SAME_DEVICE);
	return (
		grant.mac === null
			? others.where('mac', 'is', null).where('pass_id', '=', grant.pass_id)
			: others.where('mac', '=', grant.mac)
	).execute();
}

const MAX_SAME_DEVICE = 20;

/** Whether a grant was released after `since` while its gateway still lets the device in. */
export async function hasMovedIn(
	queries: Queries,
	pass: { passId: number; gatewayIds: readonly number[]; since: number },
	now: number
): Promise<boolean> {
	if (pass.gatewayIds.length === 0) return false;
	return exists(
		queries
			.selectFrom('grants')
			.select('id')
			.where('pass_id', '=', pass.passId)
			.where('gateway_id', 'in', pass.gatewayIds)
			.where('mac', 'is not', null)
			.where('released_at', '>', pass.since)
			.where((row) => row.or([row('requested_end_at', '>', now), row('confirmed_end_at', '>', now)]))
	);
}

/** Devices other than this one. A device that roams has a grant at each gateway. */
export const otherMacs = (grants: readonly Pick<GrantRow, 'mac'>[], mac: string): Set<string> =>
	new Set(grants.flatMap((grant) => (grant.mac === null || grant.mac === mac ? [] : [grant.mac])));

export const isWanted = ({ released_at: releasedAt, state }: GrantRow): boolean =>
	releasedAt === null && state !== 'revoking';

/** Returns the ids of the grants that the gateway may carry out. */
export async function openIdsAt(queries: Queries, gatewayId: number): Promise<number[]> {
	const open = queries.selectFrom('grants').where('gateway_id', '=', gatewayId).where('state', 'in', OPEN);
	return (await open.select('id').orderBy('id').execute()).map(({ id }) => id);
}

/** Counts devices with a slot whose end is later than `now`, or that was reported after `since` if it has no end. */
export async function countConnectedAt(
	queries: Queries,
	gatewayId: number,
	{ now, since }: { now: number; since: number }
): Promise<number> {
	const { rows } = await sql<{ count: number }>`
		select count(*) as count from (
			select mac from connections where gateway_id = ${gatewayId} and stopped_at is null
			union
			select mac from device_slots where gateway_id = ${gatewayId} and released_at is null
				and (expected_until > ${now} or (expected_until is null and reported_at > ${since}))) devices
		`.execute(queries);
	return rows[0]?.count ?? 0;
}

const wantedAt = (queries: Queries, gatewayId: number, state: 'granting' | 'granted') =>
	queries
		.selectFrom('grants')
		.selectAll()
		.where('gateway_id', '=', gatewayId)
		.where('state', '=', state)
		.where('released_at', 'is', null);

/** A new end for an online device may wait this long behind devices that are offline. */
const NEW_END_MS = 30_000;

/**
 * Never sent grants come first, then the longest waiting. A gateway never confirms a new end for an online
 * device, so that must not block other devices.
 */
export const waitingAt = (queries: Queries, gatewayId: number, limit: number): Promise<GrantRow[]> =>
	wantedAt(queries, gatewayId, 'granting')
		.orderBy((row) => row.case().when('requested_end_at', 'is', null).then(0).else(1).end())
		.orderBy(sql`updated_at + case when granted_at is null then 0 else ${NEW_END_MS} end`)
		.orderBy('id')
		.limit(limit)
		.execute();

export const newestWaitingAt = (queries: Queries, gatewayId: number, limit: number): Promise<GrantRow[]> =>
	wantedAt(queries, gatewayId, 'granting')
		.orderBy('updated_at', 'desc')
		.orderBy('id', 'desc')
		.limit(limit)
		.execute();

/** Lists confirmed grants whose device returned to the portal after the confirmation and after `since`. */
export const confirmedAndBack = (
	queries: Queries,
	{ gatewayId, since }: { gatewayId: number; since: number },
	limit: number
): Promise<GrantRow[]> =>
	wantedAt(queries, gatewayId, 'granted')
		.where(({ exists, selectFrom }) =>
			exists(
				selectFrom('captive_sessions')
					.select('captive_sessions.id')
					.whereRef('captive_sessions.gateway_id', '=', 'grants.gateway_id')
					.whereRef('captive_sessions.client_mac', '=', 'grants.mac')
					.whereRef('captive_sessions.created_at', '>', 'grants.granted_at')
					.where('captive_sessions.created_at', '>', since)
			)
		)
		.orderBy('id')
		.limit(limit)
		.execute();

/** Counts the grants that a gateway has not carried out, and returns its last error. */
export async function pendingAt(queries: Queries, gatewayId: number) {
	const { rows } = await sql<{
		granting: number;
		revoking: number;
		failed: number;
		lastError: string | null;
	}>`
		select count(*) filter (where state = 'granting') as granting,
			count(*) filter (where state = 'revoking') as revoking,
			count(*) filter (where state = 'failed') as failed,
			(select last_error from grants where gateway_id = ${gatewayId} and state in ('granting', 'revoking')
				and last_error is not null order by updated_at desc limit 1) as "lastError"
		from grants where gateway_id = ${gatewayId} and state in ('granting', 'revoking', 'failed')`.execute(queries);
	return rows[0] ?? { granting: 0, revoking: 0, failed: 0, lastError: null };
}
