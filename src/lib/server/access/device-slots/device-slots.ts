import type { Queries, Reads, Tx } from '#lib/server/db/database.ts';
import type { Jobs } from '../../jobs.ts';
import { CONNECTION_JOB } from '../job-kinds.ts';
import { otherMacs, wantedGrantsOf } from '../grants.ts';
import { openConnections, unnamedConnections } from './connection-store.ts';
import * as store from './store.ts';

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
export const currentReports = (now: number): store.TimeWindow => ({
	after: now - REPORT_LIFETIME_MS,
	before: now + REPORT_LIFETIME_MS
});

function isThere({ reported_at: reportedAt, expected_until: expectedUntil }: store.SlotRow, now: number) {
	if (expectedUntil !== null) return expectedUntil > now;
	const { after, before } = currentReports(now);
	return reportedAt > after && reportedAt <= before;
}

interface SlotOrder {
	passId: number;
	gatewayId: number;
	/** What names the device (`nameDevice`); null if nothing does. */
	mac: string | null;
	maxDevices: number;
}

/** Begins the names of slots of unnamed devices. No gateway's name of a device has a capital letter. */
const UNNAMED = 'Unnamed ';
const isUnnamed = ({ mac }: Pick<store.SlotRow, 'mac'>) => mac.startsWith(UNNAMED);

export async function hasRoom(
	queries: Queries,
	order: Omit<SlotOrder, 'gatewayId'>,
	now: number
): Promise<boolean> {
	if (order.mac === null) return !(await isFull(queries, order, now));
	const slots = await store.slotsOf(queries, order.passId);
	if (slots.some(({ mac }) => mac === order.mac)) return true;
	return (await countOthers(queries, slots, { ...order, mac: order.mac }, now)) < order.maxDevices;
}

export const slotsInUse = async (queries: Queries, passId: number, now: number): Promise<store.SlotRow[]> =>
	(await store.slotsOf(queries, passId)).filter((one) => isThere(one, now));

export const holdsSlot = async (queries: Reads, passId: number, mac: string): Promise<boolean> =>
	(await store.slotsOf(queries, passId)).some((own) => own.mac === mac);

/** For a device that its gateway does not name. */
async function isFull(
	queries: Queries,
	{ passId, maxDevices }: Pick<SlotOrder, 'passId' | 'maxDevices'>,
	now: number
): Promise<boolean> {
	const { length: named } = await slotsInUse(queries, passId, now);
	return named + (await unnamedConnections(queries, passId, currentReports(now))) >= maxDevices;
}

/**
 * Skips unconfirmed grants: an unresponsive gateway must not keep a buyer out. A connection without a name may be of a
 * device with a slot, so the larger number counts.
 */
async function countOthers(
	queries: Queries,
	slots: readonly store.SlotRow[],
	{ passId, mac }: { passId: number; mac: string },
	now: number
): Promise<number> {
	const wanted = await wantedGrantsOf(queries, passId);
	const confirmed = wanted.filter(({ confirmed_end_at: endsAt }) => (endsAt ?? 0) > now);
	const named = otherMacs([...slots.filter((one) => isThere(one, now)), ...confirmed], mac);
	return Math.max(named.size, await unnamedConnections(queries, passId, currentReports(now)));
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
	const { passId, gatewayId, maxDevices } = order;
	if (order.mac === null && (await isFull(trx, order, now))) return false;
	const slots = await store.slotsOf(trx, passId);
	const mac = order.mac ?? freeName(slots);
	const own = slots.find((one) => one.mac === mac);
	const there = { gateway_id: gatewayId, reported_at: now, expected_until: expectedUntil };
	if (own) {
		await store.changeSlot(trx, own.id, expectedUntil === null ? there : { ...there, bound_at: now });
		return true;
	}
	if ((await countOthers(trx, slots, { passId, mac }, now)) >= maxDevices) return false;
	// Releases the slots with the oldest reports. Those still online fit beside the new one.
	const ordered = [...slots.filter((one) => isThere(one, now)), ...slots.filter((one) => !isThere(one, now))];
	for (const gone of ordered.slice(maxDevices - 1)) await release(trx, jobs, gone, now);
	const before = await store.slotOf(trx, passId, mac);
	const bound = { ...there, bound_at: now, released_at: null };
	if (before) await store.changeSlot(trx, before.id, bound);
	else await store.insertSlot(trx, { ...bound, pass_id: passId, mac });
	return true;
}

/** The connection of an unnamed device counts from now on, instead of its slot. */
export async function releaseUnnamed(trx: Tx, passId: number, now: number): Promise<void> {
	const [first] = (await store.slotsOf(trx, passId)).filter(isUnnamed).toReversed();
	if (first) await store.changeSlot(trx, first.id, { released_at: now });
}

function freeName(slots: readonly store.SlotRow[]): string {
	const taken = new Set(slots.map(({ mac }) => mac));
	let number = 1;
	while (taken.has(`${UNNAMED}${number}`)) number += 1;
	return `${UNNAMED}${number}`;
}

async function release(
	trx: Tx,
	jobs: Jobs,
	{ id: slotId, pass_id: passId, mac }: store.SlotRow,
	now: number
) {
	await store.changeSlot(trx, slotId, { released_at: now });
	for (const { id } of await openConnections(trx, { passId, mac })) {
		await jobs.schedule(trx, CONNECTION_JOB, id, now);
	}
}
