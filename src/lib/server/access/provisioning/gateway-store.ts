import { sql } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import { OPEN, type GrantRow } from './store.ts';

/** Grants that a gateway may act on. */
const openAt = (queries: Queries, gatewayId: number) =>
	queries.selectFrom('access_grants').where('gateway_id', '=', gatewayId).where('state', 'in', OPEN);

interface After {
	gatewayId: number;
	afterId: number;
}

/** How many grants a gateway may act on, after one of them. */
export async function countOpenAt(queries: Queries, { gatewayId, afterId }: After): Promise<number> {
	const { count } = await openAt(queries, gatewayId)
		.select(({ fn }) => fn.countAll<number | string>().as('count'))
		.where('id', '>', afterId)
		.executeTakeFirstOrThrow();
	return Number(count);
}

/** The same, in their order. */
export const openGrantsAt = (
	queries: Queries,
	{ gatewayId, afterId }: After,
	limit: number
): Promise<GrantRow[]> =>
	openAt(queries, gatewayId).selectAll().where('id', '>', afterId).orderBy('id').limit(limit).execute();

/** How many devices are online at a gateway by its own reports, or hold a place there. */
export async function countConnectedAt(queries: Queries, gatewayId: number): Promise<number> {
	const { rows } = await sql<{ count: number | string }>`
		select count(*) as count from (
			select mac from network_sessions where gateway_id = ${gatewayId} and stopped_at is null
			union
			select mac from access_devices where gateway_id = ${gatewayId} and released_at is null) devices
		`.execute(queries);
	return Number(rows[0]?.count ?? 0);
}

/** When a gateway was last asked to let somebody in whom it is to put out; null where no answer is missing. */
export async function lastAskedAt(queries: Queries, gatewayId: number): Promise<number | null> {
	const { at } = await openAt(queries, gatewayId)
		.select(({ fn }) => fn.max('asked_at').as('at'))
		.executeTakeFirstOrThrow();
	return at;
}

/** Whether a gateway is to let somebody in, or has been asked to since a moment without an answer. */
export async function mayLetIn(queries: Queries, gatewayId: number, since: number): Promise<boolean> {
	const row = await openAt(queries, gatewayId)
		.select('id')
		.where((grant) => grant.or([grant('state', '<>', 'revoking'), grant('asked_at', '>', since)]))
		.limit(1)
		.executeTakeFirst();
	return row !== undefined;
}

/**
 * A guest is not to be in at a gateway any more: a user of one pass, or a device, whichever passes hold it in there.
 * @returns the grants that were to hold it in until now
 */
export async function releaseGuest(
	queries: Queries,
	{ id, gateway_id: gatewayId, mac }: GrantRow,
	now: number
): Promise<number[]> {
	const wanted = queries
		.updateTable('access_grants')
		.set({ released_at: now, updated_at: now })
		.where('gateway_id', '=', gatewayId)
		.where('state', 'in', ['granting', 'granted'])
		.where('released_at', 'is', null);
	const own = mac === null ? wanted.where('id', '=', id) : wanted.where('mac', '=', mac);
	return (await own.returning('id').execute()).map((row) => row.id);
}

/** Grants of guests that a gateway is to have in. */
const wantedAt = (queries: Queries, gatewayId: number, state: 'granting' | 'granted') =>
	queries
		.selectFrom('access_grants')
		.selectAll()
		.where('gateway_id', '=', gatewayId)
		.where('state', '=', state)
		.where('released_at', 'is', null);

/** The new end of a device that is in can wait for so long behind who is outside. */
const NEW_END_MS = 30_000;

/**
 * Grants that a gateway has yet to fetch: first those that it was never handed, then those that wait longest since. So
 * what it never confirms (the new end of a device that is in) keeps nobody else waiting, also where somebody asks in the
 * gateway's place, and is handed what it should have been.
 */
export const waitingAt = (queries: Queries, gatewayId: number, limit: number): Promise<GrantRow[]> =>
	wantedAt(queries, gatewayId, 'granting')
		.orderBy((row) => row.case().when('until_at', 'is', null).then(0).else(1).end())
		.orderBy(sql`updated_at + case when granted_at is null then 0 else ${NEW_END_MS} end`)
		.orderBy('id')
		.limit(limit)
		.execute();

/** Grants that a gateway was handed and has not confirmed, the last ones first. */
export const handedOutAt = (queries: Queries, gatewayId: number, limit: number): Promise<GrantRow[]> =>
	wantedAt(queries, gatewayId, 'granting')
		.where('until_at', 'is not', null)
		.orderBy('updated_at', 'desc')
		.orderBy('id', 'desc')
		.limit(limit)
		.execute();

/** Grants that a gateway has confirmed, and whose device it has sent to us again after that and since a moment, oldest first. */
export const confirmedAndBack = (
	queries: Queries,
	{ gatewayId, since }: { gatewayId: number; since: number },
	limit: number
): Promise<GrantRow[]> =>
	wantedAt(queries, gatewayId, 'granted')
		.where(({ exists, selectFrom }) =>
			exists(
				selectFrom('gateway_visits')
					.select('gateway_visits.id')
					.whereRef('gateway_visits.gateway_id', '=', 'access_grants.gateway_id')
					.whereRef('gateway_visits.client_mac', '=', 'access_grants.mac')
					.whereRef('gateway_visits.created_at', '>', 'access_grants.granted_at')
					.where('gateway_visits.created_at', '>', since)
			)
		)
		.orderBy('id')
		.limit(limit)
		.execute();

/** What a gateway has yet to do, and why it has not. */
export async function pendingAt(queries: Queries, gatewayId: number) {
	const rows = await queries
		.selectFrom('access_grants')
		.select(({ fn }) => ['state', fn.countAll<number | string>().as('count')])
		.where('gateway_id', '=', gatewayId)
		.where('state', 'in', ['granting', 'revoking', 'failed'])
		.groupBy('state')
		.execute();
	const newest = await queries
		.selectFrom('access_grants')
		.select('last_error')
		.where('gateway_id', '=', gatewayId)
		.where('state', 'in', ['granting', 'revoking'])
		.where('last_error', 'is not', null)
		.orderBy('updated_at', 'desc')
		.limit(1)
		.executeTakeFirst();
	const count = (state: GrantRow['state']) => Number(rows.find((row) => row.state === state)?.count ?? 0);
	return {
		granting: count('granting'),
		revoking: count('revoking'),
		failed: count('failed'),
		lastError: newest?.last_error ?? null
	};
}
