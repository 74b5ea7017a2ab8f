import type { Queries } from '../db/database.ts';
import { hasRoom, heardSince } from './devices.ts';
import * as network from './network-store.ts';
import { passState, type PassState } from './passes.ts';

/**
 * Which passwords a device may join a network with where each pass has its own (per-client PSK): the access point asks by
 * the device's address before anybody has typed anything. What will be typed cannot be known, also of a device that was
 * let in before: its owner may just have bought another pass, on another device or with another address (phones take one
 * for each network name). So those come first that its visits bought and that it was in before, and those of every pass
 * with room for it follow; the access point tries them all.
 */

export type RunningPass = Extract<PassState, { kind: 'runs' }>;

export interface PskChoice {
	/** The likeliest first; no pass is there twice. */
	passes: RunningPass[];
	/** There is none, because others have the places of those that it is known by. */
	full: boolean;
}

/** Passwords that an access point is given to try; more would make joining slow. */
const MAX_PASSWORDS = 16;

export async function pskChoice(
	queries: Queries,
	{ mac, routerId }: { mac: string; routerId: number },
	now: number
): Promise<PskChoice> {
	const place = { mac, routerId };
	const open = { now, heardSince: heardSince(now), limit: MAX_PASSWORDS };
	const candidates = new Set([
		...(await network.passesOfVisits(queries, place, now)),
		...(await network.passesOfDevice(queries, place)),
		...(await network.passesWithRoom(queries, routerId, open))
	]);
	const passes: RunningPass[] = [];
	let isKnown = false;
	for (const passId of candidates) {
		if (passes.length === MAX_PASSWORDS) break;
		const pass = await passState(queries, { passId, routerId }, now);
		if (pass.kind !== 'runs' || pass.session.access_kind === 'shared_password') continue;
		isKnown = true;
		const { max_devices: maxDevices } = pass.session;
		if (await hasRoom(queries, { passId, gatewayId: 0, mac, maxDevices }, now)) passes.push(pass);
	}
	return { passes, full: isKnown && passes.length === 0 };
}
