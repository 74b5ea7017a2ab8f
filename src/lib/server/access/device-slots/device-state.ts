import type { DeviceState } from '#lib/server/gateways/captive-sessions/captive-sessions.ts';
import { type AccessContext, passesOfPurchase } from '../provisioning.ts';
import { LATE_REDIRECT_MS, otherMacs, wantedGrantsOf } from '../grants.ts';
import { isConnected } from './connection-store.ts';
import { hasRoom, REPORT_LIFETIME_MS } from './device-slots.ts';

/**
 * Returns null when nothing is known: no time runs, or the gateway needs no grants for devices.
 * @param returnedAt when its gateway last redirected it, which an online device is not
 */
export async function deviceState(
	{ database: { db: queries }, clock }: AccessContext,
	tokenHash: string,
	{ gatewayId, mac, returnedAt }: { gatewayId: number; mac: string | null; returnedAt: number | null }
): Promise<DeviceState | null> {
	const now = clock.now();
	const pass = (await passesOfPurchase(queries, tokenHash, now)).at(-1);
	if (!pass || mac === null) return null;
	const { id: passId, max_devices: maxDevices } = pass;
	if (await isConnected(queries, { passId, gatewayId, mac, since: now - REPORT_LIFETIME_MS }))
		return 'online';
	const wanted = await wantedGrantsOf(queries, passId);
	const own = wanted.find((grant) => grant.mac === mac && grant.gateway_id === gatewayId);
	if (!own) {
		if (otherMacs(wanted, mac).size >= maxDevices) return 'no-free-slot';
		// Without room, a sign-in is refused. A phone with a new MAC address is another device.
		return (await hasRoom(queries, { passId, mac, maxDevices }, now)) ? null : 'no-free-slot';
	}
	// Even if its new end is unconfirmed, the device stays online until the old one.
	if (own.granted_at !== null && (own.confirmed_end_at ?? 0) > now) {
		return returnedAt !== null && returnedAt - own.granted_at > LATE_REDIRECT_MS ? 'connecting' : 'online';
	}
	if (own.state === 'granted') return 'connecting';
	return own.attempts > 0 ? 'delayed' : 'connecting';
}
