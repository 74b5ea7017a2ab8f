import { sql, type Insertable, type Selectable, type Updateable } from 'kysely';
import type { Queries, Reads } from '#lib/server/db/database.ts';
import { exists, first } from '#lib/server/db/queries.ts';
import type { DeviceSlotsTable } from '#lib/server/db/schema.ts';

export type SlotRow = Selectable<DeviceSlotsTable>;

export const slotsOf = (queries: Reads, passId: number): Promise<SlotRow[]> =>
	queries
		.selectFrom('device_slots')
		.selectAll()
		.where('pass_id', '=', passId)
		.where('released_at', 'is', null)
		.orderBy('reported_at', 'desc')
		.orderBy('id', 'desc')
		.execute();

/** The slots that devices of a pass have or had. */
export const allSlots = (queries: Queries, passId: number): Promise<SlotRow[]> =>
	queries.selectFrom('device_slots').selectAll().where('pass_id', '=', passId).execute();

/** The newest row of a device in a pass, even if it has left. */
export const slotOf = (queries: Queries, passId: number, mac: string): Promise<SlotRow | null> =>
	first(
		queries
			.selectFrom('device_slots')
			.selectAll()
			.where('pass_id', '=', passId)
			.where('mac', '=', mac)
			.orderBy('id', 'desc')
	);

export const insertSlot = (queries: Queries, slot: Insertable<DeviceSlotsTable>) =>
	queries.insertInto('device_slots').values(slot).execute();

export const changeSlot = (queries: Queries, id: number, to: Updateable<DeviceSlotsTable>) =>
	queries.updateTable('device_slots').set(to).where('id', '=', id).execute();

export const releaseSlot = (
	queries: Queries,
	{ passId, mac }: { passId: number; mac: string },
	now: number
) =>
	queries
		.updateTable('device_slots')
		.set({ released_at: now, expected_until: null })
		.where('pass_id', '=', passId)
		.where('mac', '=', mac)
		.where('released_at', 'is', null)
		.execute();

/** Keeps `expected_until`: some gateways cannot disconnect a device (see wasMovedSince). */
export const releaseOtherSlots = (
	queries: Queries,
	{ passId, exceptMac }: { passId: number; exceptMac: string },
	now: number
) =>
	queries
		.updateTable('device_slots')
		.set({ released_at: now })
		.where('pass_id', '=', passId)
		.where('released_at', 'is', null)
		.where('mac', '<>', exceptMac)
		.execute();

/** Whether a device lost its slot after `since` while its gateway still lets it in (BinAuth). */
export const wasMovedSince = (queries: Queries, passId: number, since: number): Promise<boolean> =>
	exists(
		queries
			.selectFrom('device_slots')
			.select('id')
			.where('pass_id', '=', passId)
			.where('released_at', '>', since)
			.whereRef('expected_until', '>', 'released_at')
	);

export async function passesOfDevice(
	queries: Queries,
	{ mac, routerId }: { mac: string; routerId: number }
): Promise<number[]> {
	const rows = await queries
		.selectFrom('device_slots')
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

const MAX_KNOWN = 20;

export async function passesOfCaptiveSessions(
	queries: Queries,
	{ mac, routerId }: { mac: string; routerId: number },
	now: number
): Promise<number[]> {
	const { rows } = await sql<{ pass_id: number }>`
		select passes.id as pass_id from captive_sessions
		join purchases opened on opened.token_hash = captive_sessions.purchase_token_hash
		join purchases on purchases.id = opened.id or purchases.extends_purchase_id = opened.id
		join sessions on sessions.id in (purchases.session_id, purchases.replaces_session_id)
		join passes on passes.id = sessions.pass_id
		where captive_sessions.client_mac = ${mac} and captive_sessions.expires_at > ${now}
			and captive_sessions.gateway_id in (select id from gateways where router_id = ${routerId})
			and passes.ends_at > ${now} and passes.password_sealed is not null
		order by captive_sessions.bound_at desc, captive_sessions.id desc limit ${MAX_KNOWN}`.execute(queries);
	return rows.map(({ pass_id }) => pass_id);
}

/** `wasUsed`: a device has held a slot of the pass before. */
export interface PassWithRoom {
	passId: number;
	wasUsed: boolean;
}

/** Newest first. `reportedWithin`: span of current reports. */
export async function passesWithRoom(
	queries: Queries,
	routerId: number,
	{ now, reportedWithin, limit }: { now: number; reportedWithin: TimeWindow; limit: number }
): Promise<PassWithRoom[]> {
	const { rows } = await sql<{ pass_id: number; was_used: number }>`
		select passes.id as pass_id,
			case when exists (select 1 from device_slots slots where slots.pass_id = passes.id) then 1 else 0 end as was_used
		from passes
		where router_id = ${routerId} and ends_at > ${now} and password_sealed is not null
			and access_kind <> 'shared_password'
			and max_devices > (
				select count(*) from device_slots slots
				where slots.pass_id = passes.id and slots.released_at is null
					and slots.reported_at > ${reportedWithin.after} and slots.reported_at <= ${reportedWithin.before})
		order by passes.id desc limit ${limit}`.execute(queries);
	return rows.map((row) => ({ passId: row.pass_id, wasUsed: row.was_used === 1 }));
}

/** Instants in ms since the epoch: later than `after`, up to `before`. */
export interface TimeWindow {
	after: number;
	before: number;
}
