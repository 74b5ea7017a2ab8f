import type { Queries } from '#lib/server/db/database.ts';
import { hasRoom } from './device-slots.ts';
import * as store from '../provisioning/store.ts';

/**
 * Where a device stands at its gateway. `connecting`: the gateway is being told of it. `delayed`: so too, but it could
 * not be told so far. `online`: the gateway has it. `no-free-slot`: all places of the pass are other devices'.
 */
export type DeviceState = 'connecting' | 'delayed' | 'online' | 'no-free-slot';

export interface Device {
	gatewayId: number;
	/** `aa:bb:cc:dd:ee:ff` */
	mac: string | null;
}

/** A gateway tells of a connection every minute; after three of them without a word it is not believed any more. */
const CONNECTION_FRESH_MS = 3 * 60 * 1000;

/**
 * Where a device of a purchase stands.
 * @returns null where nothing of it is known: no time runs, or the gateway lets it in without being told of devices
 */
export async function deviceState(
	queries: Queries,
	tokenHash: string,
	{ gatewayId, mac }: Device,
	now: number
): Promise<DeviceState | null> {
	const pass = (await store.passesOfPurchase(queries, tokenHash)).at(-1);
	if (!pass || mac === null) return null;
	const isConnected = await store.isConnected(queries, {
		passId: pass.pass_id,
		gatewayId,
		mac,
		since: now - CONNECTION_FRESH_MS
	});
	if (isConnected) return 'online';
	const inside = (await store.openGrantsOf(queries, pass.pass_id)).filter(
		(grant) => grant.mac !== null && grant.released_at === null && grant.state !== 'revoking'
	);
	const own = inside.find((grant) => grant.mac === mac && grant.gateway_id === gatewayId);
	if (!own) {
		const { pass_id: passId, max_devices: maxDevices } = pass;
		if (inside.length >= maxDevices) return 'no-free-slot';
		// Where devices sign in by themselves it would be refused; a phone that changed its address is another device.
		return (await hasRoom(queries, { passId, gatewayId, mac, maxDevices }, now)) ? null : 'no-free-slot';
	}
	// It was let in, and at most its new end has not been told yet: till the old one it stays in.
	if (own.granted_at !== null && (own.confirmed_until_at ?? 0) > now) return 'online';
	if (own.state === 'granted') return 'connecting';
	return own.attempts > 0 ? 'delayed' : 'connecting';
}
