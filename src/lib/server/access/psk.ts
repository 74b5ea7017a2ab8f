import type { Queries } from '../db/database.ts';
import { hasRoom, heardSince } from './devices.ts';
import * as network from './network-store.ts';
import { passState, type PassState } from './passes.ts';

/**
 * Which password a device may join a network with where each pass has its own (per-client PSK): the access point asks by
 * the device's address before anybody has typed anything. A device that was let in before, or that bought on a visit, is
 * known by it. One that nobody knows (phones take another address for each network name) may use the password of any
 * pass with room for it, because what it will type cannot be known; the access point tries several.
 */

export type RunningPass = Extract<PassState, { kind: 'runs' }>;

export interface PskChoice {
	passes: RunningPass[];
	/** `device`: let in before. `visit`: bought on a visit. `nobody`: not known. */
	by: 'device' | 'visit' | 'nobody';
	/** It is known, and others have its places. */
	full: boolean;
}

/** Passwords that an access point is given to try; more would make joining slow. */
const MAX_PASSWORDS = 16;

export async function pskChoice(
	queries: Queries,
	{ mac, routerId }: { mac: string; routerId: number },
	now: number
): Promise<PskChoice> {
	const running = async (passIds: readonly number[]): Promise<RunningPass[]> => {
		const found: RunningPass[] = [];
		for (const passId of new Set(passIds)) {
			const pass = await passState(queries, { passId, routerId }, now);
			if (pass.kind === 'runs' && pass.session.access_kind !== 'shared_password') found.push(pass);
		}
		return found;
	};
	const roomy = async (passes: readonly RunningPass[]) => {
		const found: RunningPass[] = [];
		for (const pass of passes) {
			const { pass_id: passId, max_devices: maxDevices } = pass.session;
			if (await hasRoom(queries, { passId, gatewayId: 0, mac, maxDevices }, now)) found.push(pass);
		}
		return found;
	};
	const place = { mac, routerId };
	for (const [by, passIds] of [
		['device', await network.passesOfDevice(queries, place)],
		['visit', await network.passesOfVisits(queries, place, now)]
	] as const) {
		const known = await running(passIds);
		if (known.length === 0) continue;
		const passes = await roomy(known);
		return { passes, by, full: passes.length === 0 };
	}
	const open = { now, heardSince: heardSince(now), limit: MAX_PASSWORDS };
	const passes = await running(await network.passesWithRoom(queries, routerId, open));
	return { passes, by: 'nobody', full: false };
}
