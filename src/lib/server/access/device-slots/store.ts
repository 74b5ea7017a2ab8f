import { sql, type Insertable, type Selectable, type Updateable } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import type { AccessDevicesTable, NetworkSessionsTable, SessionsTable } from '#lib/server/db/schema.ts';

export type DeviceRow = Selectable<AccessDevicesTable>;
export type ConnectionRow = Selectable<NetworkSessionsTable>;
type SessionRow = Selectable<SessionsTable>;

/** More sessions follow each other in no pass. */
const MAX_OF_PASS = 500;

/** All sessions of a pass, whatever became of them. */
export const sessionsOf = (queries: Queries, passId: number): Promise<SessionRow[]> =>
	queries
		.selectFrom('sessions')
		.selectAll()
		.where('pass_id', '=', passId)
		.orderBy('id', 'desc')
		.limit(MAX_OF_PASS)
		.execute();

/** Devices that hold a place of a pass, heard of last first. */
export async function placesOf(queries: Queries, passId: number): Promise<PlaceRow[]> {
	const rows = await queries
		.selectFrom('access_devices')
		.innerJoin('gateways', 'gateways.id', 'access_devices.gateway_id')
		.selectAll('access_devices')
		.select('gateways.kind')
		.where('pass_id', '=', passId)
		.where('released_at', 'is', null)
		.orderBy('access_devices.seen_at', 'desc')
		.orderBy('access_devices.id', 'desc')
		.execute();
	return rows.map(({ kind, ...row }) => ({ ...row, is_expected: kind === 'opennds' }));
}

/** `is_expected`: its gateway reports nothing of it, `seen_at` is until when it lets it in (binauth.ts). */
export type PlaceRow = DeviceRow & { is_expected: boolean };

/** What is known of a device in a pass, whether or not it holds a place now. */
export async function deviceIn(queries: Queries, passId: number, mac: string): Promise<DeviceRow | null> {
	const row = await queries
		.selectFrom('access_devices')
		.selectAll()
		.where('pass_id', '=', passId)
		.where('mac', '=', mac)
		.orderBy('id', 'desc')
		.limit(1)
		.executeTakeFirst();
	return row ?? null;
}

export async function insertDevice(queries: Queries, device: Insertable<AccessDevicesTable>): Promise<void> {
	await queries.insertInto('access_devices').values(device).execute();
}

export async function changeDevice(
	queries: Queries,
	id: number,
	to: Updateable<AccessDevicesTable>
): Promise<void> {
	await queries.updateTable('access_devices').set(to).where('id', '=', id).execute();
}

/** A device gives up its place. */
export async function releasePlace(
	queries: Queries,
	{ passId, mac }: { passId: number; mac: string },
	now: number
): Promise<void> {
	await queries
		.updateTable('access_devices')
		.set((row) => ({
			released_at: now,
			// It is not in any more, also where it was expected to be (binauth.ts).
			seen_at: row.case().when('seen_at', '>', now).then(now).else(row.ref('seen_at')).end()
		}))
		.where('pass_id', '=', passId)
		.where('mac', '=', mac)
		.where('released_at', 'is', null)
		.execute();
}

/** Whether a device of a pass lost its place after a moment, though its gateway has it in until later (binauth.ts). */
export async function wasMovedSince(queries: Queries, passId: number, since: number): Promise<boolean> {
	const row = await queries
		.selectFrom('access_devices')
		.select('id')
		.where('pass_id', '=', passId)
		.where('released_at', '>', since)
		.whereRef('seen_at', '>', 'released_at')
		.limit(1)
		.executeTakeFirst();
	return row !== undefined;
}

/** Whether a device of a pass that lost its place is online all the same, by what its gateway reports. */
export async function hasMovedOnline(
	queries: Queries,
	{ passId, exceptMac }: { passId: number; exceptMac: string },
	heard: { after: number; before: number }
): Promise<boolean> {
	const { rows } = await sql`
		select connection.id from network_sessions connection
		join access_devices device on device.pass_id = connection.pass_id and device.mac = connection.mac
		where connection.pass_id = ${passId} and connection.stopped_at is null
			and connection.disconnect_state <> 'done'
			and connection.seen_at > ${heard.after} and connection.seen_at <= ${heard.before}
			and device.released_at is not null and device.mac <> ${exceptMac} limit 1`.execute(queries);
	return rows.length > 0;
}

/** Passes in which a device was let online at the gateways of a router, newest first. */
export async function passesOfDevice(
	queries: Queries,
	{ mac, routerId }: { mac: string; routerId: number }
): Promise<number[]> {
	const rows = await queries
		.selectFrom('access_devices')
		.select('pass_id')
		.where('mac', '=', mac)
		.where('gateway_id', 'in', (gateways) =>
			gateways.selectFrom('gateways').select('id').where('router_id', '=', routerId)
		)
		.orderBy('bound_at', 'desc')
		.orderBy('id', 'desc')
		.limit(MAX_KNOWN)
		.execute();
	return rows.map(({ pass_id }) => pass_id);
}

/** Passes of one device that are looked at. */
const MAX_KNOWN = 20;

/** Running passes of the purchases that a device's visits at the gateways of a router led to, newest visit first. */
export async function passesOfCaptiveSessions(
	queries: Queries,
	{ mac, routerId }: { mac: string; routerId: number },
	now: number
): Promise<number[]> {
	const { rows } = await sql<{ pass_id: number }>`
		select sessions.pass_id as pass_id from gateway_visits visits
		join purchases on purchases.token_hash = visits.purchase_token_hash
		join sessions on sessions.id = purchases.session_id
		where visits.client_mac = ${mac} and visits.expires_at > ${now}
			and visits.gateway_id in (select id from gateways where router_id = ${routerId})
			and sessions.status = 'active' and sessions.expires_at > ${now}
		order by visits.bound_at desc, visits.id desc limit ${MAX_KNOWN}`.execute(queries);
	return rows.map(({ pass_id }) => pass_id);
}

/** A pass that another device may come into; `wasUsed`: one was in it before. */
export interface PassWithRoom {
	passId: number;
	wasUsed: boolean;
}

/**
 * Running passes of a router that have room for another device, newest first; `heardSince`: as in devices.ts, and as far
 * in the future at most, where the clock was set back. Where there are more than twice `limit`: so many of the newest, and
 * of the oldest.
 */
export async function passesWithRoom(
	queries: Queries,
	routerId: number,
	{ now, heardSince, limit }: { now: number; heardSince: number; limit: number }
): Promise<PassWithRoom[]> {
	const inOrder = async (direction: 'asc' | 'desc') => {
		const { rows } = await sql<{ pass_id: number; was_used: number }>`
			select pass_id, case when exists (
					select 1 from access_devices devices where devices.pass_id = sessions.pass_id)
				then 1 else 0 end as was_used
			from sessions
			where router_id = ${routerId} and status = 'active' and expires_at > ${now}
				and access_kind <> 'shared_password'
			group by pass_id
			having max(max_devices) > (
				select count(*) from access_devices devices
				where devices.pass_id = sessions.pass_id and devices.released_at is null
					and devices.seen_at > ${heardSince} and devices.seen_at <= ${2 * now - heardSince})
			order by pass_id ${sql.raw(direction)} limit ${limit}`.execute(queries);
		return rows.map((row) => ({ passId: row.pass_id, wasUsed: row.was_used === 1 }));
	};
	const newest = await inOrder('desc');
	const last = newest.at(-1);
	if (last === undefined || newest.length < limit) return newest;
	const oldest = (await inOrder('asc')).filter(({ passId }) => passId < last.passId);
	return [...newest, ...oldest.toReversed()];
}

export async function findConnection(queries: Queries, id: number): Promise<ConnectionRow | null> {
	const row = await queries
		.selectFrom('network_sessions')
		.selectAll()
		.where('id', '=', id)
		.executeTakeFirst();
	return row ?? null;
}

/** What names a connection: a gateway can be several access servers, each with names of its own. */
export interface ConnectionName {
	gatewayId: number;
	acctSessionId: string;
	nasAddress: string | null;
	nasIdentifier: string | null;
	mac: string | null;
}

/**
 * A connection by what its access server calls it; one of the same device whose access server has got another address
 * goes on.
 */
export async function connectionOf(queries: Queries, name: ConnectionName): Promise<ConnectionRow | null> {
	const rows = await queries
		.selectFrom('network_sessions')
		.selectAll()
		.where('gateway_id', '=', name.gatewayId)
		.where('acct_session_id', '=', name.acctSessionId)
		.orderBy('id', 'desc')
		.limit(MAX_SERVERS)
		.execute();
	const isSame = ({ nas_address, nas_identifier }: ConnectionRow) =>
		nas_address === name.nasAddress && nas_identifier === name.nasIdentifier;
	const isDevices = ({ mac }: ConnectionRow) => mac !== null && mac === name.mac;
	return rows.find(isSame) ?? rows.find(isDevices) ?? null;
}

/** Access servers of one gateway that are looked at for one name. */
const MAX_SERVERS = 100;

export const insertConnection = (
	queries: Queries,
	connection: Insertable<NetworkSessionsTable>
): Promise<ConnectionRow> =>
	queries.insertInto('network_sessions').values(connection).returningAll().executeTakeFirstOrThrow();

export async function changeConnection(
	queries: Queries,
	id: number,
	to: Updateable<NetworkSessionsTable>
): Promise<void> {
	await queries.updateTable('network_sessions').set(to).where('id', '=', id).execute();
}

/** What the connections of a pass have to be told is new: nobody has tried yet. */
export async function forgetAttempts(queries: Queries, passId: number): Promise<void> {
	await queries
		.updateTable('network_sessions')
		.set({ disconnect_attempts: 0 })
		.where('pass_id', '=', passId)
		.where('stopped_at', 'is', null)
		.execute();
}

/** Connections of a device in a pass that are not over. */
export const openConnections = (
	queries: Queries,
	{ passId, mac }: { passId: number; mac: string }
): Promise<{ id: number }[]> =>
	queries
		.selectFrom('network_sessions')
		.select('id')
		.where('pass_id', '=', passId)
		.where('mac', '=', mac)
		.where('stopped_at', 'is', null)
		.execute();

/** How many connections of a pass go on whose device is not known, of those heard of at a time. */
export async function unnamedConnections(
	queries: Queries,
	passId: number,
	heard: { after: number; before: number }
): Promise<number> {
	const { count } = await queries
		.selectFrom('network_sessions')
		.select((builder) => builder.fn.countAll<number>().as('count'))
		.where('pass_id', '=', passId)
		.where('mac', 'is', null)
		.where('stopped_at', 'is', null)
		.where('seen_at', '>', heard.after)
		.where('seen_at', '<=', heard.before)
		.executeTakeFirstOrThrow();
	return count;
}

/** Whether a gateway has ended a connection because we asked it to. */
export async function hasEnded(queries: Queries, gatewayId: number): Promise<boolean> {
	const row = await queries
		.selectFrom('network_sessions')
		.select('id')
		.where('gateway_id', '=', gatewayId)
		.where('disconnect_state', '=', 'done')
		.limit(1)
		.executeTakeFirst();
	return row !== undefined;
}

/** Connections that are not over of one access server of a gateway: the one that says that it begins anew. */
export const openAt = (
	queries: Queries,
	server: { gatewayId: number; address: string | null; identifier: string | null; before: number }
): Promise<ConnectionRow[]> =>
	queries
		.selectFrom('network_sessions')
		.selectAll()
		.where('gateway_id', '=', server.gatewayId)
		.where('nas_address', server.address === null ? 'is' : '=', server.address)
		.where('nas_identifier', server.identifier === null ? 'is' : '=', server.identifier)
		.where('started_at', '<=', server.before)
		.where('stopped_at', 'is', null)
		.orderBy('id')
		.execute();
