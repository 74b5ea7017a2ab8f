import { holdsEverything, type Held } from '#lib/server/db/locks.ts';
import {
	GATEWAY_JOB,
	LATE_REDIRECT_MS,
	findWanted,
	isAllowedAt,
	listGateways,
	listOtherMacs
} from './admissions.ts';
import { type AccessContext, type ProvisioningContext } from './provisioning.ts';
import { type AccountingReport } from './radius-accounting.ts';
import { type HeldPass, type PassRow } from '../passes.ts';
import type { Queries, Reads, Tx } from '#lib/server/db/database.ts';
import { lockSession } from '../billing/sessions.ts';
import type { Jobs } from '../jobs.ts';
import type { DeviceState } from '#lib/server/gateways/captive-sessions.ts';
import { DEVICE_ABSENT } from '#lib/server/gateways/gateway.ts';
import { type Insertable, type Selectable, type Updateable, sql } from 'kysely';
import { exists, first, isChanged } from '#lib/server/db/queries.ts';
import type { ConnectionsTable, DeviceSlotsTable } from '#lib/server/db/schema.ts';

/**
 * A device takes a slot when its gateway proves that it signed in. It keeps the slot until it leaves or the
 * pass moves. Without a report for three accounting intervals, it may lose the slot to another device.
 *
 * A device that its gateway does not name cannot be recognised: each of its logins takes a slot of its own, until a
 * report opens its connection, which counts instead.
 */

/** Accounting interval that gateways are configured with. */
export const INTERIM_SECONDS = 60;
/** A device without a report for this long counts as gone. */
export const REPORT_LIFETIME_MS = 3 * INTERIM_SECONDS * 1000;

/** The span of current reports. A later report was stored before the clock was set back. */
export const computeReportWindow = (now: number): TimeWindow => ({
	after: now - REPORT_LIFETIME_MS,
	before: now + REPORT_LIFETIME_MS
});

/** Whether an open slot counts: by its last report, or until the end that its gateway knows. */
export function isInUse({ reported_at: reportedAt, expected_until: expectedUntil }: SlotRow, now: number) {
	if (expectedUntil !== null) return expectedUntil > now;
	const { after, before } = computeReportWindow(now);
	return reportedAt > after && reportedAt <= before;
}

interface SlotOrder {
	pass: HeldPass;
	gatewayId: number;
	/** What names the device (`nameDevice`); null if nothing does. */
	mac: string | null;
	maxDevices: number;
}

/** Begins the names of slots of unnamed devices. No gateway's name of a device has a capital letter. */
const UNNAMED = 'Unnamed ';
const isUnnamed = ({ mac }: Pick<SlotRow, 'mac'>) => mac.startsWith(UNNAMED);

export async function hasRoom(
	queries: Queries,
	order: Omit<SlotOrder, 'gatewayId' | 'pass'> & { passId: number },
	now: number
): Promise<boolean> {
	if (order.mac === null) return !(await isFull(queries, order, now));
	const slots = await findSlots(queries, order.passId);
	if (slots.some(({ mac }) => mac === order.mac)) return true;
	return (await countOthers(queries, slots, { ...order, mac: order.mac }, now)) < order.maxDevices;
}

export const findSlotsInUse = async (queries: Queries, passId: number, now: number): Promise<SlotRow[]> =>
	(await findSlots(queries, passId)).filter((one) => isInUse(one, now));

/** The devices that hold slots of passes, as `${pass} ${device}`. */
export async function findHolders(queries: Reads, passIds: readonly number[]): Promise<Set<string>> {
	if (passIds.length === 0) return new Set();
	const held = queries.selectFrom('device_slots').select(['pass_id', 'mac']).where('released_at', 'is', null);
	const rows = await held.where('pass_id', 'in', passIds).execute();
	return new Set(rows.map(({ pass_id: passId, mac }) => `${passId} ${mac}`));
}

export const holdsSlot = async (queries: Reads, passId: number, mac: string): Promise<boolean> =>
	(await findSlots(queries, passId)).some((own) => own.mac === mac);

/** For a device that its gateway does not name. */
async function isFull(
	queries: Queries,
	{ passId, maxDevices }: Pick<SlotOrder, 'maxDevices'> & { passId: number },
	now: number
): Promise<boolean> {
	const { length: named } = await findSlotsInUse(queries, passId, now);
	return named + (await countUnnamedConnections(queries, passId, computeReportWindow(now))) >= maxDevices;
}

/**
 * Skips devices that no gateway has let in yet: an unresponsive gateway must not keep a buyer out. A connection without a name may be of a
 * device with a slot, so the larger number counts.
 */
async function countOthers(
	queries: Queries,
	slots: readonly SlotRow[],
	{ passId, mac }: { passId: number; mac: string },
	now: number
): Promise<number> {
	const wanted = await findWanted(queries, passId);
	const confirmed = wanted.filter(({ allowed_until: until }) => (until ?? 0) > now);
	const named = listOtherMacs([...slots.filter((one) => isInUse(one, now)), ...confirmed], mac);
	return Math.max(named.size, await countUnnamedConnections(queries, passId, computeReportWindow(now)));
}

/**
 * Gives a device a slot, or renews its report. Disconnects devices that have left to make room.
 * @param expectedUntil end of the device's access (ms since the epoch), for gateways without reports
 * @returns false when no slot is free
 */
export async function takeSlot(
	trx: Tx,
	jobs: Jobs,
	order: SlotOrder,
	now: number,
	expectedUntil: number | null = null
): Promise<boolean> {
	const { gatewayId, maxDevices } = order;
	const { id: passId } = order.pass;
	const there = { gateway_id: gatewayId, reported_at: now, expected_until: expectedUntil };
	const renewed = expectedUntil === null ? there : { ...there, bound_at: now };
	if (order.mac === null && (await isFull(trx, { passId, maxDevices }, now))) return false;
	if (order.mac !== null && (await renewSlot(trx, { passId, mac: order.mac }, renewed))) return true;
	const slots = await findSlots(trx, passId);
	const mac = order.mac ?? findFreeName(slots);
	if ((await countOthers(trx, slots, { passId, mac }, now)) >= maxDevices) return false;
	// Releases the slots with the oldest reports. Those still online fit beside the new one.
	const ordered = [...slots.filter((one) => isInUse(one, now)), ...slots.filter((one) => !isInUse(one, now))];
	for (const gone of ordered.slice(maxDevices - 1)) await release(trx, jobs, gone, now);
	const before = await findSlot(trx, passId, mac);
	const bound = { ...there, bound_at: now, released_at: null };
	if (before) await changeSlot(trx, before.id, bound);
	else await insertSlot(trx, { ...bound, pass_id: passId, mac });
	return true;
}

/** The connection of an unnamed device counts from now on, instead of its slot. */
export async function releaseUnnamed(trx: Tx, passId: number, now: number): Promise<void> {
	const [first] = (await findSlots(trx, passId)).filter(isUnnamed).toReversed();
	if (first) await changeSlot(trx, first.id, { released_at: now });
}

function findFreeName(slots: readonly SlotRow[]): string {
	const taken = new Set(slots.map(({ mac }) => mac));
	let number = 1;
	while (taken.has(`${UNNAMED}${number}`)) number += 1;
	return `${UNNAMED}${number}`;
}

async function release(trx: Tx, jobs: Jobs, { id: slotId, pass_id: passId, mac }: SlotRow, now: number) {
	await changeSlot(trx, slotId, { released_at: now });
	for (const id of await findConnectedGateways(trx, { passId, mac })) {
		await jobs.schedule(trx, GATEWAY_JOB, id, now);
	}
}

/**
 * Returns null when nothing is known: no time runs, or Airtill does not name devices to the gateway.
 * @param returnedAt when its gateway last redirected it, which an online device is not
 */
export async function findDeviceState(
	{ database: { db: queries }, clock }: AccessContext,
	tokenHash: string,
	{ gatewayId, mac, returnedAt }: { gatewayId: number; mac: string | null; returnedAt: number | null }
): Promise<DeviceState | null> {
	const now = clock.now();
	const pass = (await findPassesOfPurchase(queries, tokenHash, now)).at(-1);
	if (!pass || mac === null) return null;
	const { id: passId, max_devices: maxDevices } = pass;
	if (await isConnected(queries, { passId, gatewayId, mac, since: now - REPORT_LIFETIME_MS }))
		return 'online';
	const wanted = await findWanted(queries, passId);
	const own = wanted.find((row) => row.mac === mac && row.gateway_id === gatewayId);
	if (!own) {
		if (listOtherMacs(wanted, mac).size >= maxDevices) return 'no-free-slot';
		// Without room, a sign-in is refused. A phone with a new MAC address is another device.
		return (await hasRoom(queries, { passId, mac, maxDevices }, now)) ? null : 'no-free-slot';
	}
	if (isAllowedAt(own, now)) {
		const isBack = returnedAt !== null && returnedAt - (own.allowed_at ?? 0) > LATE_REDIRECT_MS;
		return isBack ? 'connecting' : 'online';
	}
	if (own.problem === DEVICE_ABSENT) return 'absent';
	return own.problem === null ? 'connecting' : 'delayed';
}

export type SlotRow = Selectable<DeviceSlotsTable>;

const findSlots = (queries: Reads, passId: number): Promise<SlotRow[]> =>
	queries
		.selectFrom('device_slots')
		.selectAll()
		.where('pass_id', '=', passId)
		.where('released_at', 'is', null)
		.orderBy('reported_at', 'desc')
		.orderBy('id', 'desc')
		.execute();

/** The slots that devices of a pass have or had. */
export const findAllSlots = (queries: Queries, passId: number): Promise<SlotRow[]> =>
	queries.selectFrom('device_slots').selectAll().where('pass_id', '=', passId).execute();

/** The newest row of a device in a pass, even if it has left. */
export const findSlot = (queries: Queries, passId: number, mac: string): Promise<SlotRow | null> =>
	first(
		queries
			.selectFrom('device_slots')
			.selectAll()
			.where('pass_id', '=', passId)
			.where('mac', '=', mac)
			.orderBy('id', 'desc')
	);

const insertSlot = (queries: Queries, slot: Insertable<DeviceSlotsTable>) =>
	queries.insertInto('device_slots').values(slot).execute();

export const changeSlot = (queries: Queries, id: number, to: Updateable<DeviceSlotsTable>) =>
	queries.updateTable('device_slots').set(to).where('id', '=', id).execute();

interface SlotName {
	passId: number;
	mac: string;
}

/** Changes the slot that a device holds. @returns whether it holds one */
const renewSlot = (
	queries: Queries,
	{ passId, mac }: SlotName,
	to: Updateable<DeviceSlotsTable>
): Promise<boolean> =>
	isChanged(
		queries
			.updateTable('device_slots')
			.set(to)
			.where('pass_id', '=', passId)
			.where('mac', '=', mac)
			.where('released_at', 'is', null)
	);

export const releaseSlot = (queries: Queries, slot: SlotName, now: number) =>
	renewSlot(queries, slot, { released_at: now, expected_until: null });

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

export async function findPassesOfDevice(
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

export async function findPassesOfCaptiveSessions(
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
export async function findPassesWithRoom(
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
interface TimeWindow {
	after: number;
	before: number;
}

export type ConnectionRow = Selectable<ConnectionsTable>;

/** A gateway can be several access servers with their own ids: the server or the device must match. */
export async function findReportedConnection(
	queries: Queries,
	gatewayId: number,
	{ session, nas_address, nas_identifier, mac }: AccountingReport
): Promise<ConnectionRow | null> {
	const rows = await queries
		.selectFrom('connections')
		.selectAll()
		.where('gateway_id', '=', gatewayId)
		.where('acct_session_id', '=', session)
		.orderBy('id', 'desc')
		.limit(MAX_SERVERS)
		.execute();
	const isSame = (row: ConnectionRow) =>
		row.nas_address === nas_address && row.nas_identifier === nas_identifier;
	return rows.find(isSame) ?? rows.find((row) => row.mac !== null && row.mac === mac) ?? null;
}

const MAX_SERVERS = 100;

export const insertConnection = (
	queries: Queries,
	connection: Insertable<ConnectionsTable>
): Promise<ConnectionRow> =>
	queries.insertInto('connections').values(connection).returningAll().executeTakeFirstOrThrow();

export const changeConnection = (queries: Queries, id: number, to: Updateable<ConnectionsTable>) =>
	queries.updateTable('connections').set(to).where('id', '=', id).execute();

export const forgetAttempts = (queries: Queries, passId: number) =>
	queries
		.updateTable('connections')
		.set({ disconnect_attempts: 0, check_at: null })
		.where('pass_id', '=', passId)
		.where('stopped_at', 'is', null)
		.where('disconnect_attempts', '>', 0)
		.execute();

const selectOpenConnections = (queries: Reads) =>
	queries.selectFrom('connections').selectAll().where('stopped_at', 'is', null);

/** Open connections of passes at a gateway. */
export const findOpenConnectionsOf = (queries: Reads, gatewayId: number): Promise<ConnectionRow[]> =>
	selectOpenConnections(queries)
		.where('gateway_id', '=', gatewayId)
		.where('pass_id', 'is not', null)
		.orderBy('id')
		.execute();

/** By id: transactions that schedule the same ones do so in one order. */
export async function findConnectedGateways(
	queries: Queries,
	{ passId, mac }: { passId: number; mac?: string }
): Promise<number[]> {
	const found = selectOpenConnections(queries).where('pass_id', '=', passId);
	const rows = await (mac === undefined ? found : found.where('mac', '=', mac)).execute();
	return listGateways(rows);
}

/** Counts open connections without a MAC address. */
async function countUnnamedConnections(
	queries: Queries,
	passId: number,
	reportedWithin: TimeWindow
): Promise<number> {
	const found = await selectOpenConnections(queries)
		.where('pass_id', '=', passId)
		.where('mac', 'is', null)
		.where('seen_at', '>', reportedWithin.after)
		.where('seen_at', '<=', reportedWithin.before)
		.execute();
	return found.length;
}

export const hasEnded = (queries: Queries, gatewayId: number): Promise<boolean> =>
	exists(
		queries
			.selectFrom('connections')
			.select('id')
			.where('gateway_id', '=', gatewayId)
			.where('disconnect_state', '=', 'done')
	);

export const findOpenConnectionsAt = (
	queries: Queries,
	gatewayId: number,
	{ nas_address, nas_identifier, at }: AccountingReport & { at: number }
) =>
	selectOpenConnections(queries)
		.where('gateway_id', '=', gatewayId)
		.where('nas_address', nas_address === null ? 'is' : '=', nas_address)
		.where('nas_identifier', nas_identifier === null ? 'is' : '=', nas_identifier)
		.where('started_at', '<=', at)
		.orderBy('id')
		.execute();

const isConnected = (
	queries: Queries,
	device: { passId: number; gatewayId: number; mac: string; since: number }
): Promise<boolean> =>
	exists(
		selectOpenConnections(queries)
			.where('pass_id', '=', device.passId)
			.where('gateway_id', '=', device.gatewayId)
			.where('mac', '=', device.mac)
			.where('seen_at', '>', device.since)
	);

/** Whether a device that lost its slot is still online, according to its gateway. */
export async function hasMovedOnline(
	queries: Queries,
	{ passId, exceptMac }: { passId: number; exceptMac: string },
	reportedWithin: TimeWindow
): Promise<boolean> {
	const { rows } = await sql`
		select connection.id from connections connection
		join device_slots device on device.pass_id = connection.pass_id and device.mac = connection.mac
		where connection.pass_id = ${passId} and connection.stopped_at is null
			and connection.disconnect_state <> 'done'
			and connection.seen_at > ${reportedWithin.after} and connection.seen_at <= ${reportedWithin.before}
			and device.released_at is not null and device.mac <> ${exceptMac} limit 1`.execute(queries);
	return rows.length > 0;
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

export async function findNewestDevice(
	{ clock }: Pick<ProvisioningContext, 'clock'>,
	trx: Tx,
	pass: Pick<PassRow, 'id' | 'router_id'>
): Promise<BroughtDevice | null> {
	const [newest] = await findDevices(trx, pass, clock.now());
	return newest ?? null;
}

/** With its newest captive session. */
export interface BroughtDevice {
	captive_session_id: number;
	gateway_id: number;
	mac: string;
	created_at: number;
}

/**
 * Lists the devices on which the pass was bought or opened, newest first. Includes those of a later order that should
 * have replaced it: its payment may arrive before it is cancelled.
 */
export async function findDevices(
	queries: Queries,
	{ id: passId, router_id: routerId }: Pick<PassRow, 'id' | 'router_id'>,
	now: number
): Promise<BroughtDevice[]> {
	const { rows } = await sql<BroughtDevice>`
		select id as captive_session_id, gateway_id, client_mac as mac, created_at from captive_sessions
		where client_mac is not null and bound_at is not null and expires_at > ${now}
			and gateway_id in (select id from gateways where router_id = ${routerId})
			and purchase_token_hash in (
				select own.token_hash from purchases own join sessions on sessions.id = own.session_id
					where sessions.pass_id = ${passId}
				union
				select later.token_hash from purchases later join sessions on sessions.id = later.replaces_session_id
					where sessions.pass_id = ${passId}
				union
				select first.token_hash from purchases added
					join sessions on sessions.id = added.session_id
					join purchases first on first.id = added.extends_purchase_id
					where sessions.pass_id = ${passId})
		order by bound_at desc, id desc limit ${MAX_ROWS}`.execute(queries);
	const seen = new Set<string>();
	return rows.filter(({ gateway_id, mac }) => {
		const key = `${gateway_id} ${mac}`;
		return !seen.has(key) && seen.add(key);
	});
}

const MAX_ROWS = 20;

/** Lists the passes that run or wait for a gateway, oldest first. Includes added time and a replaced order. */
export async function findPassesOfPurchase(
	queries: Queries,
	tokenHash: string,
	now: number
): Promise<PassRow[]> {
	const { rows } = await sql<PassRow>`
		select passes.* from passes
		where (passes.activating_until is not null or passes.ends_at > ${now})
			and passes.password_sealed is not null
			and passes.id in (select pass_id from sessions where id in (${selectSessionsOf(tokenHash)}))
		order by passes.id limit ${MAX_ROWS}`.execute(queries);
	return rows;
}

const selectSessionsOf = (tokenHash: string) => sql<number>`
	select session_id as id from purchases where token_hash = ${tokenHash}
	union
	select replaces_session_id from purchases where token_hash = ${tokenHash}
	union
	select added.session_id from purchases added
		join purchases first on first.id = added.extends_purchase_id
		where first.token_hash = ${tokenHash}`;

/**
 * Holds the passes of `findPassesOfPurchase`. Waits for a payment that settles now: it does not see a device that has come
 * since it began, so the device must see its pass.
 */
export async function lockPassesOfPurchase(
	trx: Tx,
	tokenHash: string,
	now: number
): Promise<Held<PassRow>[]> {
	const held = new Set<number | null>();
	if (!holdsEverything(trx)) {
		const { rows } = await sql<{ id: number | null }>`${selectSessionsOf(tokenHash)} order by id`.execute(
			trx
		);
		for (const { id } of rows) {
			const session = id === null ? undefined : await lockSession(trx, id);
			if (session) held.add(session.pass_id);
		}
	}
	const passes = (await findPassesOfPurchase(trx, tokenHash, now)) as Held<PassRow>[];
	return holdsEverything(trx) ? passes : passes.filter(({ id }) => held.has(id));
}
