import { sql } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import { OPEN, WANTED, type GrantRow } from './store.ts';

const openGrantsAt = (queries: Queries, gatewayId: number) =>
	queries.selectFrom('grants').where('gateway_id', '=', gatewayId).where('state', 'in', OPEN);

/** Returns the ids of the grants that the gateway may carry out. */
export async function openIdsAt(queries: Queries, gatewayId: number): Promise<number[]> {
	const rows = await openGrantsAt(queries, gatewayId).select('id').orderBy('id').execute();
	return rows.map(({ id }) => id);
}

export async function requestAllAgain(queries: Queries, gatewayId: number, now: number): Promise<number[]> {
	const again = { state: 'granting', requested_end_at: null, granted_at: null, updated_at: now } as const;
	const rows = await queries
		.updateTable('grants')
		.set(again)
		.set({ revision: sql<number>`revision + 1` })
		.where('gateway_id', '=', gatewayId)
		.where('state', 'in', WANTED)
		.where('released_at', 'is', null)
		.returning('id')
		.execute();
	return rows.map(({ id }) => id);
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

export async function pendingAt(queries: Queries, gatewayId: number) {
	const rows = await queries
		.selectFrom('grants')
		.select(({ fn }) => ['state', fn.countAll<number>().as('count')])
		.where('gateway_id', '=', gatewayId)
		.where('state', 'in', ['granting', 'revoking', 'failed'])
		.groupBy('state')
		.execute();
	const newest = await queries
		.selectFrom('grants')
		.select('last_error')
		.where('gateway_id', '=', gatewayId)
		.where('state', 'in', ['granting', 'revoking'])
		.where('last_error', 'is not', null)
		.orderBy('updated_at', 'desc')
		.limit(1)
		.executeTakeFirst();
	const count = (state: GrantRow['state']) => rows.find((row) => row.state === state)?.count ?? 0;
	return {
		granting: count('granting'),
		revoking: count('revoking'),
		failed: count('failed'),
		lastError: newest?.last_error ?? null
	};
}
