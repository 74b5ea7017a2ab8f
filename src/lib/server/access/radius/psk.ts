import { currentReports, hasRoom } from '../device-slots.ts';
import * as slots from '../device-slots.ts';
import { passState, type RunningPass } from '../../passes.ts';
import type { AccessContext } from '../provisioning.ts';
import type { Asking } from './psk-candidates.ts';

/**
 * Chooses the Wi-Fi passwords for a device if each pass has its own (per-client PSK).
 *
 * Problem: the access point asks by MAC address before the device sends its password. Phones use a new MAC
 * address per network.
 * Order: passes of this device (bought in its captive sessions, or used before), then all passes with a free
 * slot. hostapd tries every Tunnel-Password of the answer.
 * Rotation: a device that asks again is offered other passes (psk-candidates.ts). Each of n passes comes up
 * within n / MAX_PASSWORDS tries. hostapd caches an answer for 30 seconds (RADIUS_ACL_TIMEOUT).
 * Limit: hostapd up to 2.10 does not report which password matched (no Class; User-Name is the MAC address).
 * With several candidates the connection has no pass and takes no device slot. It ends with the earliest
 * candidate (Session-Timeout).
 */

/**
 * The access point derives a key from each: a few milliseconds of a small processor. hostapd reads answers of
 * up to 3,000 bytes; a password takes 21.
 */
const MAX_PASSWORDS = 16;
/** Bounds the passes considered: the newest ones. */
const MAX_LOOKED_AT = 1_000;

/**
 * Unused passes come first, because their buyers have had nothing yet. The newest (a joining device has
 * usually just bought) alternate with the oldest. Every fourth pass had a device before.
 */
function interleave(passes: readonly slots.PassWithRoom[]): number[] {
	const unused = passes.filter(({ wasUsed }) => !wasUsed).map(({ passId }) => passId);
	const used = passes.filter(({ wasUsed }) => wasUsed).map(({ passId }) => passId);
	const turns = passes.flatMap((_, at) => [unused[2 * at], unused.at(-1 - at), unused[2 * at + 1], used[at]]);
	return [...new Set(turns)].filter((passId) => passId !== undefined);
}

/** Records the offer. @returns the passes in order; `full` if no candidate has a free device slot */
export async function pskChoice(
	{ database: { db }, clock, pskCandidates }: AccessContext,
	device: Asking
): Promise<{ passes: RunningPass[]; full: boolean }> {
	const { mac, routerId } = device;
	const now = clock.now();
	const open = { now, reportedWithin: currentReports(now), limit: MAX_LOOKED_AT };
	const own = new Set([
		...(await slots.passesOfCaptiveSessions(db, device, now)),
		...(await slots.passesOfDevice(db, device))
	]);
	const others = interleave(await slots.passesWithRoom(db, routerId, open)).filter((id) => !own.has(id));
	const candidates =
		own.size + others.length > MAX_PASSWORDS
			? pskCandidates.ordered(device, [...own], others, now)
			: [...own, ...others];
	const passes: RunningPass[] = [];
	let isKnown = false;
	let isPart = false;
	for (const passId of candidates) {
		const pass = await passState(db, { passId, routerId }, now);
		if (pass.kind !== 'runs' || pass.pass.access_kind === 'shared_password') continue;
		isKnown = true;
		const { max_devices: maxDevices } = pass.pass;
		if (!(await hasRoom(db, { passId, mac, maxDevices }, now))) continue;
		isPart = passes.length === MAX_PASSWORDS;
		if (isPart) break;
		passes.push(pass);
	}
	const passIds = passes.map(({ pass }) => pass.id);
	pskCandidates.offered(device, passIds, isPart, now);
	return { passes, full: isKnown && passes.length === 0 };
}
