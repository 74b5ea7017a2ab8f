import type { Queries, Tx } from '#lib/server/db/database.ts';
import type { Jobs } from '#lib/server/jobs/jobs.ts';
import * as network from './store.ts';
import { openGrantsOf } from '../provisioning/store.ts';
import { CONNECTION_JOB } from '../job-kinds.ts';

/**
 * Places of devices in a pass. A device takes one when its gateway has proved that it signed in, and keeps it until it
 * leaves, is moved, or is not heard of for three accounting intervals: then another one may have it.
 */

/** How often gateways are asked to report on a connection. */
export const INTERIM_SECONDS = 60;
const HEARD_MS = 3 * INTERIM_SECONDS * 1000;
/** A device that was heard of just now need not be noted again. */
const FRESH_MS = 10_000;

/** A device that was last heard of before this moment has left. */
export const heardSince = (now: number): number => now - HEARD_MS;

/** What was heard later than this was heard before the clock was set back; two processes differ by less. */
export const heardUntil = (now: number): number => now + HEARD_MS;

/** One that nothing is heard of is expected to be there until then (binauth.ts). */
const isThere = ({ seen_at: seenAt, is_expected: isExpected }: network.PlaceRow, now: number) =>
	seenAt > heardSince(now) && (isExpected || seenAt <= heardUntil(now));

export interface Place {
	passId: number;
	gatewayId: number;
	mac: string;
	maxDevices: number;
}

/** Whether a device holds a place of a pass, or could take one. */
export async function hasRoom(queries: Queries, place: Place, now: number): Promise<boolean> {
	const places = await network.placesOf(queries, place.passId);
	if (places.some(({ mac }) => mac === place.mac)) return true;
	return (await others(queries, places, place, now)).size < place.maxDevices;
}

/** Other devices that hold a place of a pass. */
export async function placesOfOthers(
	queries: Queries,
	{ passId, mac }: Pick<Place, 'passId' | 'mac'>,
	now: number
): Promise<string[]> {
	const places = await network.placesOf(queries, passId);
	return places.filter((one) => one.mac !== mac && isThere(one, now)).map((one) => one.mac);
}

/** Whether it holds one now. */
export async function holdsPlace(queries: Queries, { passId, mac }: Place): Promise<boolean> {
	return (await network.placesOf(queries, passId)).some((own) => own.mac === mac);
}

/** Whether it holds one now, noted so lately that nothing has to be written. */
export async function isFresh(queries: Queries, { passId, mac }: Place, now: number): Promise<boolean> {
	const places = await network.placesOf(queries, passId);
	return places.some((own) => own.mac === mac && own.seen_at > now - FRESH_MS && own.seen_at <= now);
}

/**
 * Whether a pass has as many devices, or connections, as it lets online: for a device that its gateway does not name.
 * What is looked at is what gateways report, so that it holds for those that report connections.
 */
export async function isFull(
	queries: Queries,
	{ pass_id: passId, max_devices: maxDevices }: { pass_id: number; max_devices: number },
	now: number
): Promise<boolean> {
	const places = (await network.placesOf(queries, passId)).filter((place) => isThere(place, now)).length;
	const unnamed = await network.unnamedConnections(queries, passId, {
		after: heardSince(now),
		before: heardUntil(now)
	});
	return places + unnamed >= maxDevices;
}

/**
 * Other devices that are in: in a place, or because another gateway of the router has said that it let them in. (Of one
 * that has not, nobody knows whether it ever will: nobody who has paid is kept out for it.)
 */
async function others(
	queries: Queries,
	places: readonly network.PlaceRow[],
	{ passId, mac }: Place,
	now: number
): Promise<Set<string>> {
	const told = (await openGrantsOf(queries, passId)).filter(
		(one) => one.released_at === null && one.state !== 'revoking' && (one.confirmed_until_at ?? 0) > now
	);
	const all = [...places.filter((one) => isThere(one, now)), ...told].map((one) => one.mac);
	return new Set(all.flatMap((one) => (one === null || one === mac ? [] : [one])));
}

/**
 * A device takes a place, or is noted as heard of where it holds one. Those in whose place it is are put out.
 * @returns false when there is none for it
 */
export async function takePlace(trx: Tx, jobs: Jobs, place: Place, now: number): Promise<boolean> {
	const { passId, gatewayId, mac, maxDevices } = place;
	const places = await network.placesOf(trx, passId);
	const own = places.find((one) => one.mac === mac);
	if (own) {
		await network.changeDevice(trx, own.id, { gateway_id: gatewayId, seen_at: now });
		return true;
	}
	if ((await others(trx, places, place, now)).size >= maxDevices) return false;
	// Longest unheard of first; all that are still there have a place beside the new one.
	const there = places.filter((one) => isThere(one, now));
	const away = places.filter((one) => !isThere(one, now));
	for (const gone of [...there, ...away].slice(maxDevices - 1)) await putOut(trx, jobs, gone, now);
	const before = await network.deviceIn(trx, passId, mac);
	const bound = { gateway_id: gatewayId, bound_at: now, seen_at: now, released_at: null };
	if (before) await network.changeDevice(trx, before.id, bound);
	else await network.insertDevice(trx, { ...bound, pass_id: passId, mac });
	return true;
}

async function putOut(trx: Tx, jobs: Jobs, { pass_id: passId, mac }: network.DeviceRow, now: number) {
	await network.releasePlace(trx, { passId, mac }, now);
	for (const { id } of await network.openConnections(trx, { passId, mac })) {
		await jobs.schedule(trx, CONNECTION_JOB, id, now);
	}
}
