import { signsInBrowser, type RegisteredGateway } from '../gateway-record.ts';
import type { Entry } from '../gateway.ts';
import { adapterOf } from '../registry.ts';
import type { CaptiveSessionsContext } from './captive-sessions.ts';
import { entryOf, returnedAt } from './record.ts';
import * as store from './store.ts';

/**
 * Returns the SHA-256 of the token of a device's last purchase at a gateway; null if the redirect does not
 * prove the device, because anyone can write a MAC address.
 */
export async function earlierPurchase(
	{ database, clock, secrets }: CaptiveSessionsContext,
	gateway: RegisteredGateway,
	entry: Entry
): Promise<string | null> {
	const { provesDevice } = adapterOf(gateway.kind);
	if (!provesDevice || entry.clientMac === null) return null;
	const newest = await store.newestPurchaseOf(database.db, gateway.id, entry.clientMac, clock.now());
	return newest && provesDevice(entry, entryOf(secrets, newest), gateway) ? newest.purchase_token_hash : null;
}

/**
 * Finds the purchase of the device that is online at an IP address. Works only without NAT between the
 * hotspot and this installation, because NAT hides the devices' addresses.
 * @param clientIp in its one spelling; null if it is not known
 * @returns SHA-256 of the token; null if the device is unknown, or was redirected again after its sign-in
 */
export async function purchaseOnlineAt(
	context: CaptiveSessionsContext,
	gateway: RegisteredGateway,
	clientIp: string | null
): Promise<string | null> {
	const { clock, secrets, access, database } = context;
	if (clientIp === null) return null;
	const now = clock.now();
	const newest = await store.newestFromIp(database.db, gateway.id, clientIp, now);
	if (!newest) return null;
	const paid =
		newest.purchase_token_hash === null && newest.client_mac !== null
			? await store.newestPurchaseOf(database.db, gateway.id, newest.client_mac, now)
			: newest;
	// DHCP may have given the address to another device.
	if (!paid || paid.client_ip !== clientIp || paid.purchase_token_hash === null) return null;
	const isSignedIn =
		(paid.tried_at !== null && newest.created_at <= paid.tried_at) ||
		entryOf(secrets, newest).state === 'online';
	if (isSignedIn) return paid.purchase_token_hash;
	if (signsInBrowser(gateway)) return null;
	// Another system connects the device and does not report it.
	if (gateway.mode === 'external') return paid.purchase_token_hash;
	const state = await access.stateOf(paid.purchase_token_hash, {
		gatewayId: gateway.id,
		mac: paid.client_mac,
		returnedAt: await returnedAt(context, gateway, paid)
	});
	return state === 'online' ? paid.purchase_token_hash : null;
}
