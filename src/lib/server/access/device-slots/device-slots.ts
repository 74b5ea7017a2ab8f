import type { Queries, Tx } from '#lib/server/db/database.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import { CONNECTION_JOB } from '../job-kinds.ts';
import { otherMacs, wantedGrantsOf } from '../grants.ts';
import { openConnections, unnamedConnections } from './connection-store.ts';
import * as store from './store.ts';

/**
 * A device takes a slot when its gateway proves that it signed in. It keeps the slot until it leaves or the
 * pass moves. Without a report for three accounting intervals, it may lose the slot to another device.
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
	mac: string;
	maxDevices: number;
}

export async function hasRoom(
	queries: Queries,
	order: Omit<SlotOrder, 'gatewayId'>,
	now: number
): Promise<boolean> {
	const slots = await store.slotsOf(queries, order.passId);
	if (slots.some(({ mac }) => mac === order.mac)) return true;
	return (await othersOnline(queries, slots, order, now)).size < order.maxDevices;
}

export const slotsInUse = async (queries: Queries, passId: number, now: number): Promise<store.SlotRow[]> =>
	(await store.slotsOf(queries, passId)).filter((one) => isThere(one, now));

export const holdsSlot = async (queries: Queries, passId: number, mac: string): Promise<boolean> =>
	(await store.slotsOf(queries, passId)).some((own) => own.mac === mac);

/** For a device that its gateway does not name. Counts unnamed connections, so it needs their reports. */
export async function isFull(
	queries: Queries,
	{ passId, maxDevices }: Pick<SlotOrder, 'passId' | 'maxDevices'>,
	now: number
): Promise<boolean> {
	const { length: named } = await slotsInUse(queries, passId, now);
	return named + (await unnamedConnections(queries, passId, currentReports(now))) >= maxDevices;
}

/** Skips unconfirmed grants: an unresponsive gateway must not keep a buyer out. */
async function othersOnline(
	queries: Queries,
	slots: readonly store.SlotRow[],
	{ passId, mac }: Pick<SlotOrder, 'passId' | 'mac'>,
	now: number
): Promise<Set<string>> {
	const wanted = await wantedGrantsOf(queries, passId);
	const confirmed = wanted.filter(({ confirmed_end_at: endsAt }) => (endsAt ?? 0) > now);
	return otherMacs([...slots.filter((one) => isThere(one, now)), ...confirmed], mac);
}

/**
 * Gives a device a slot, or renews its report. Disconnects devices that have left to make room.
 * @param expectedUntil end of the device's access (ms since the epoch), for gateways without reports
 * @returns false when no slot is free
 */
export async function takeSlot(
	trx: Tx,
	jobs: Jobs,
	{ passId, gatewayId, mac, maxDevices }: SlotOrder,
	now: number,
	expectedUntil: number | null = null
): Promise<boolean> {
	const slots = await store.slotsOf(trx, passId);
	const own = slots.find((one) => one.mac === mac);
	const there = { gateway_id: gatewayId, reported_at: now, expected_until: expectedUntil };
	if (own) {
		await store.changeSlot(trx, own.id, expectedUntil === null ? there : { ...there, bound_at: now });
		return true;
	}
	if ((await othersOnline(trx, slots, { passId, mac }, now)).size >= maxDevices) {
		return false;
	}
	// Releases the slots with the oldest reports. Those still online fit beside the new one.
	const ordered = [...slots.filter((one) => isThere(one, now)), ...slots.filter((one) => !isThere(one, now))];
	for (const gone of ordered.slice(maxDevices - 1)) await release(trx, jobs, gone, now);
	const before = await store.slotOf(trx, passId, mac);
	const bound = { ...there, bound_at: now, released_at: null };
	if (before) await store.changeSlot(trx, before.id, bound);
	else await store.insertSlot(trx, { ...bound, pass_id: passId, mac });
	return true;
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
