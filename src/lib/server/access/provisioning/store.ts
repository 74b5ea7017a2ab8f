import { sql, type Insertable, type Selectable, type Updateable } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import type { AccessGrantsTable, SessionsTable } from '#lib/server/db/schema.ts';

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
export interface DeviceCaptiveSession {
	id: number;
	gateway_id: number;
	mac: string;
	created_at: number;
}

/**
 * CaptiveSessions on which the purchase of a pass was made or opened, at the gateways of its router, newest first: one for each
 * device.
 */
export async function devicesOf(
	queries: Queries,
	{ passId, routerId }: { passId: number; routerId: number },
	now: number
): Promise<DeviceCaptiveSession[]> {
	const { rows } = await sql<DeviceCaptiveSession>`
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

/** CaptiveSessions of one purchase that are looked at. */
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
				where first.token_hash = ${tokenHash} and added.session_id is not null
			union
			select later.id from sessions later
				join sessions own on own.pass_id = later.pass_id
				join purchases guest on guest.session_id = own.id
				where guest.token_hash = ${tokenHash})
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

/** States of a grant that its gateway may act on. */
export const OPEN = ['granting', 'granted', 'revoking'] as const;

/** Grants of a pass that its gateways may act on. */
export const openGrantsOf = (queries: Queries, passId: number): Promise<GrantRow[]> =>
	queries
		.selectFrom('access_grants')
		.selectAll()
		.where('pass_id', '=', passId)
		.where('state', 'in', OPEN)
		.orderBy('id')
		.execute();

/** All grants of a pass, whatever became of them. */
export const grantsOf = (queries: Queries, passId: number): Promise<GrantRow[]> =>
	queries.selectFrom('access_grants').selectAll().where('pass_id', '=', passId).orderBy('id').execute();

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
