import { sql, type Insertable, type Selectable, type Updateable } from 'kysely';
import type { Queries } from '../db/database.ts';
import type { AccessGrantsTable, SessionsTable } from '../db/schema.ts';

export type GrantRow = Selectable<AccessGrantsTable>;
type SessionRow = Selectable<SessionsTable>;

/** The sessions of a pass that are paid and not over, in their order. */
export const openSessionsOf = (queries: Queries, passId: number): Promise<SessionRow[]> =>
	queries
		.selectFrom('sessions')
		.selectAll()
		.where('pass_id', '=', passId)
		.where('status', 'in', ['activating', 'active'])
		.orderBy('starts_at')
		.orderBy('id')
		.execute();

/** A visit that brought a device, as far as a grant needs it. */
export interface DeviceVisit {
	id: number;
	gateway_id: number;
	mac: string;
	created_at: number;
}

/**
 * Visits on which the purchase of a pass was made or opened, at the gateways of its router, newest first: one for each
 * device.
 */
export async function devicesOf(
	queries: Queries,
	{ passId, routerId }: { passId: number; routerId: number },
	now: number
): Promise<DeviceVisit[]> {
	const { rows } = await sql<DeviceVisit>`
		select id, gateway_id, client_mac as mac, created_at from gateway_visits
		where client_mac is not null and bound_at is not null and expires_at > ${now}
			and gateway_id in (select id from gateways where router_id = ${routerId})
			and purchase_token_hash in (
				select own.token_hash from purchases own join sessions on sessions.id = own.session_id
					where sessions.pass_id = ${passId}
				union
				select first.token_hash from purchases added
					join sessions on sessions.id = added.session_id
					join purchases first on first.id = added.extends_purchase_id
					where sessions.pass_id = ${passId})
		order by bound_at desc, id desc limit ${MAX_VISITS}`.execute(queries);
	const seen = new Set<string>();
	return rows.filter(({ gateway_id, mac }) => {
		const key = `${gateway_id} ${mac}`;
		return !seen.has(key) && seen.add(key);
	});
}

/** Visits of one purchase that are looked at. */
const MAX_VISITS = 20;

/** Passes that a purchase, known by the hash of its token, has running or about to run. */
export async function passesOfPurchase(queries: Queries, tokenHash: string): Promise<SessionRow[]> {
	const { rows } = await sql<SessionRow>`
		select sessions.* from sessions
		where status in ('activating', 'active') and sessions.id in (
			select session_id from purchases where token_hash = ${tokenHash} and session_id is not null
			union
			select added.session_id from purchases added
				join purchases first on first.id = added.extends_purchase_id
				where first.token_hash = ${tokenHash} and added.session_id is not null)
		order by sessions.id limit ${MAX_VISITS}`.execute(queries);
	return rows;
}

/** Sessions of a router whose time runs or is about to, in the order of their passes, after one of these. */
export const runningAt = (
	queries: Queries,
	{ routerId, afterPassId }: { routerId: number; afterPassId: number },
	limit: number
): Promise<SessionRow[]> =>
	queries
		.selectFrom('sessions')
		.selectAll()
		.where('router_id', '=', routerId)
		.where('status', 'in', ['activating', 'active'])
		.where('pass_id', '>', afterPassId)
		.orderBy('pass_id')
		.orderBy('id')
		.limit(limit)
		.execute();

export const insertGrant = (queries: Queries, grant: Insertable<AccessGrantsTable>): Promise<GrantRow> =>
	queries.insertInto('access_grants').values(grant).returningAll().executeTakeFirstOrThrow();

export async function findGrant(queries: Queries, id: number): Promise<GrantRow | null> {
	const row = await queries.selectFrom('access_grants').selectAll().where('id', '=', id).executeTakeFirst();
	return row ?? null;
}

/** Grants of a pass that its gateways may act on. */
export const openGrantsOf = (queries: Queries, passId: number): Promise<GrantRow[]> =>
	queries
		.selectFrom('access_grants')
		.selectAll()
		.where('pass_id', '=', passId)
		.where('state', 'in', ['granting', 'granted', 'revoking'])
		.orderBy('id')
		.execute();

/** How many grants a gateway may act on. */
export async function countOpenAt(queries: Queries, gatewayId: number): Promise<number> {
	const { count } = await queries
		.selectFrom('access_grants')
		.select(({ fn }) => fn.countAll<number | string>().as('count'))
		.where('gateway_id', '=', gatewayId)
		.where('state', 'in', ['granting', 'granted', 'revoking'])
		.executeTakeFirstOrThrow();
	return Number(count);
}

/** The same, in their order, after one of them. */
export const openGrantsAt = (
	queries: Queries,
	{ gatewayId, afterId }: { gatewayId: number; afterId: number },
	limit: number
): Promise<GrantRow[]> =>
	queries
		.selectFrom('access_grants')
		.selectAll()
		.where('gateway_id', '=', gatewayId)
		.where('state', 'in', ['granting', 'granted', 'revoking'])
		.where('id', '>', afterId)
		.orderBy('id')
		.limit(limit)
		.execute();

/** Nobody is to be in at a gateway any more. */
export async function releaseAt(queries: Queries, gatewayId: number, now: number): Promise<void> {
	await queries
		.updateTable('access_grants')
		.set({ released_at: now, updated_at: now })
		.where('gateway_id', '=', gatewayId)
		.where('state', 'in', ['granting', 'granted'])
		.where('released_at', 'is', null)
		.execute();
}

/** All grants of a pass, whatever became of them. */
export const grantsOf = (queries: Queries, passId: number): Promise<GrantRow[]> =>
	queries.selectFrom('access_grants').selectAll().where('pass_id', '=', passId).orderBy('id').execute();

/**
 * Grants that a gateway has yet to fetch: first those that it was never handed, then those that wait longest since. So
 * what it never confirms (the new end of a device that is in) keeps nobody else waiting.
 */
export const waitingAt = (queries: Queries, gatewayId: number, limit: number): Promise<GrantRow[]> =>
	queries
		.selectFrom('access_grants')
		.selectAll()
		.where('gateway_id', '=', gatewayId)
		.where('state', '=', 'granting')
		.where('released_at', 'is', null)
		.orderBy((row) => row.case().when('until_at', 'is', null).then(0).else(1).end())
		.orderBy('updated_at')
		.orderBy('id')
		.limit(limit)
		.execute();

/** Grants that a gateway was handed and has not confirmed, the last ones first. */
export const handedOutAt = (queries: Queries, gatewayId: number, limit: number): Promise<GrantRow[]> =>
	queries
		.selectFrom('access_grants')
		.selectAll()
		.where('gateway_id', '=', gatewayId)
		.where('state', '=', 'granting')
		.where('until_at', 'is not', null)
		.where('released_at', 'is', null)
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
	queries
		.selectFrom('access_grants')
		.selectAll()
		.where('gateway_id', '=', gatewayId)
		.where('state', '=', 'granted')
		.where('released_at', 'is', null)
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

/**
 * Changes a grant if it is still in one of the states that the change was decided for.
 * @returns null when another change was faster
 */
export async function changeGrant(
	queries: Queries,
	from: { id: number; state: readonly GrantRow['state'][]; wanted?: true; revision?: number },
	to: Updateable<AccessGrantsTable>
): Promise<GrantRow | null> {
	let query = queries
		.updateTable('access_grants')
		.set(to)
		.where('id', '=', from.id)
		.where('state', 'in', from.state);
	if (from.wanted) query = query.where('released_at', 'is', null);
	if (from.revision !== undefined) query = query.where('revision', '=', from.revision);
	return (await query.returningAll().executeTakeFirst()) ?? null;
}

/** A gateway that may just have let a guest in has to put it out, unless it is (still, or again) to be in. */
export async function revokeAgain(queries: Queries, id: number, now: number): Promise<void> {
	await queries
		.updateTable('access_grants')
		.set({ state: 'revoking', asked_at: now, updated_at: now })
		.where('id', '=', id)
		.where((row) =>
			row.or([
				row('state', 'in', ['revoking', 'revoked', 'failed']),
				row.and([row('state', 'in', ['granting', 'granted']), row('released_at', 'is not', null)])
			])
		)
		.execute();
}

/** What a gateway was told of a guest, or is being told at this moment, does not count any more. */
export async function tellAnew(queries: Queries, id: number, now: number): Promise<void> {
	await queries
		.updateTable('access_grants')
		.set({
			state: 'granting',
			until_at: null,
			granted_at: null,
			revision: sql`revision + 1`,
			updated_at: now
		})
		.where('id', '=', id)
		.where('state', 'in', ['granting', 'granted'])
		.where('released_at', 'is', null)
		.execute();
}

/**
 * Other grants that are to hold the same device in at one of some gateways (those that share their guests with the
 * grant's own); where users are told: those of the same pass.
 */
export function sameDevice(
	queries: Queries,
	grant: GrantRow,
	gatewayIds: readonly number[]
): Promise<GrantRow[]> {
	const others = queries
		.selectFrom('access_grants')
		.selectAll()
		.where('id', '<>', grant.id)
		.where('gateway_id', 'in', gatewayIds)
		.where('state', 'in', ['granting', 'granted'])
		.where('released_at', 'is', null)
		.orderBy('id')
		.limit(MAX_SAME_DEVICE);
	return (
		grant.mac === null
			? others.where('mac', 'is', null).where('pass_id', '=', grant.pass_id)
			: others.where('mac', '=', grant.mac)
	).execute();
}

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

/** Passes of one device at once. */
const MAX_SAME_DEVICE = 20;

/** Connections of a pass that its gateways have not reported as over. */
export const openConnectionsOf = (queries: Queries, passId: number): Promise<{ id: number }[]> =>
	queries
		.selectFrom('network_sessions')
		.select('id')
		.where('pass_id', '=', passId)
		.where('stopped_at', 'is', null)
		.execute();

/** Devices of a pass give up their places, but one. */
export async function releaseDevices(
	queries: Queries,
	{ passId, exceptMac }: { passId: number; exceptMac: string | null },
	now: number
): Promise<void> {
	await queries
		.updateTable('access_devices')
		.set({ released_at: now })
		.where('pass_id', '=', passId)
		.where('released_at', 'is', null)
		.where('mac', '<>', exceptMac ?? '')
		.execute();
}

/** Whether a device of a pass lost its place after a moment, and was let in until later at one of some gateways. */
export async function hasMovedIn(
	queries: Queries,
	pass: { passId: number; gatewayIds: readonly number[]; since: number },
	now: number
): Promise<boolean> {
	if (pass.gatewayIds.length === 0) return false;
	const row = await queries
		.selectFrom('access_grants')
		.select('id')
		.where('pass_id', '=', pass.passId)
		.where('gateway_id', 'in', pass.gatewayIds)
		.where('mac', 'is not', null)
		.where('released_at', '>', pass.since)
		.where('until_at', '>', now)
		.limit(1)
		.executeTakeFirst();
	return row !== undefined;
}

/** Whether a gateway accounts for a connection of a device that has not ended. */
export async function isConnected(
	queries: Queries,
	device: { passId: number; gatewayId: number; mac: string; since: number }
): Promise<boolean> {
	const row = await queries
		.selectFrom('network_sessions')
		.select('id')
		.where('pass_id', '=', device.passId)
		.where('gateway_id', '=', device.gatewayId)
		.where('mac', '=', device.mac)
		.where('stopped_at', 'is', null)
		.where('seen_at', '>', device.since)
		.limit(1)
		.executeTakeFirst();
	return row !== undefined;
}
