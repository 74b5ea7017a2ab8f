import type { Queries } from '../db/database.ts';
import { currentReports, hasRoom } from '../access/device-slots/device-slots.ts';
import * as slots from '../access/device-slots/store.ts';
import { passState, type RunningPass } from '../access/passes/pass-state.ts';
import type { Offers } from './psk-offers.ts';

/**
 * Which passwords a device may join a network with where each pass has its own (per-client PSK): the access point asks by
 * the device's address before anybody has typed anything. What will be typed cannot be known, also of a device that was
 * let in before: its owner may just have bought another pass, on another device or with another address (phones take one
 * for each network name). So those come first that its visits bought and that it was in before, and those of every pass
 * with room for it follow; the access point tries them all (hostapd takes every Tunnel-Password of the answer).
 *
 * Where more have room than are offered at once, a device that asks again without having come in is offered the others
 * (psk-offers.ts), so that with n of them each comes up within n / MAX_PASSWORDS tries, rounded up. hostapd keeps an
 * answer for 30 seconds (RADIUS_ACL_TIMEOUT), so a try is one in that time. Of a router with more than MAX_LOOKED_AT such
 * passes those in the middle wait until there are fewer.
 *
 * Which of several passwords was right is known to the access point alone: hostapd up to 2.10 puts nothing of it in its
 * accounting (User-Name is the device's address, or what the answer named, which stands for all passwords of it; there
 * is no Class). So a connection belongs to a pass only where that is the only one the device may have: the others have
 * no pass in the books, take no place of its devices (`max_devices` does not hold for them), and end with the earliest
 * pass that was offered (Session-Timeout), when their devices ask again.
 */

export interface PskChoice {
	/** In the order in which they are offered; no pass is there twice. */
	passes: RunningPass[];
	/** There is none, because others have the places of those that it is known by. */
	full: boolean;
}

/**
 * Passwords that an access point is given to try at once. It derives a key from each, some milliseconds of its own small
 * processor: more would make joining slow. (hostapd reads answers of up to 3,000 bytes, and each password takes 21.)
 */
const MAX_PASSWORDS = 16;
/** Passes with room of a router that are looked at: so many of the newest, and of those that wait longest. */
const MAX_LOOKED_AT = 500;

/**
 * Of the passes with room come those first that no device has ever been in: nobody there has had anything for the money.
 * Who joins has mostly just bought, but no new buyer may push out those who wait longest: they come in turns. One that
 * had a device before is offered to a stranger with each fourth.
 */
const ORDER = ['newest', 'longest', 'newest', 'used'] as const;

function inTurns(passes: readonly slots.PassWithRoom[]): number[] {
	const unused = passes.filter(({ wasUsed }) => !wasUsed).map(({ passId }) => passId);
	const used = passes.filter(({ wasUsed }) => wasUsed).map(({ passId }) => passId);
	const queues = { newest: [...unused], longest: unused.toReversed(), used };
	const taken = new Set<number>();
	for (let turn = 0; taken.size < passes.length; turn += 1) {
		const queue = queues[ORDER[turn % ORDER.length] ?? 'used'];
		let next = queue.shift();
		while (next !== undefined && taken.has(next)) next = queue.shift();
		if (next !== undefined) taken.add(next);
	}
	return [...taken];
}

/** @param offers null: nobody is being offered them */
export async function pskChoice(
	queries: Queries,
	{ mac, routerId }: { mac: string; routerId: number },
	now: number,
	offers: Offers | null
): Promise<PskChoice> {
	const place = { mac, routerId };
	const open = { now, heard: currentReports(now), limit: MAX_LOOKED_AT };
	const own = new Set([
		...(await slots.passesOfCaptiveSessions(queries, place, now)),
		...(await slots.passesOfDevice(queries, place))
	]);
	const others = inTurns(await slots.passesWithRoom(queries, routerId, open)).filter((id) => !own.has(id));
	const candidates =
		offers && own.size + others.length > MAX_PASSWORDS
			? offers.ordered(place, [...own], others, now)
			: [...own, ...others];
	const passes: RunningPass[] = [];
	let isKnown = false;
	let isPart = false;
	for (const passId of candidates) {
		const pass = await passState(queries, { passId, routerId }, now);
		if (pass.kind !== 'runs' || pass.pass.access_kind === 'shared_password') continue;
		isKnown = true;
		const { max_devices: maxDevices } = pass.pass;
		if (!(await hasRoom(queries, { passId, gatewayId: 0, mac, maxDevices }, now))) continue;
		isPart = passes.length === MAX_PASSWORDS;
		if (isPart) break;
		passes.push(pass);
	}
	if (offers && isPart) {
		offers.offered(
			place,
			passes.map(({ pass }) => pass.id),
			now
		);
	}
	return { passes, full: isKnown && passes.length === 0 };
}
