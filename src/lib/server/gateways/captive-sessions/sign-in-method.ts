import type { RegisteredGateway } from '../gateways.ts';
import { adapterOf } from '../registry.ts';

/**
 * Sign-in methods for a returning buyer or another device.
 * - `typed`: the buyer types username and password on the hotspot's own page.
 * - `code`: our page opens, and the resume code finds the purchase. Username and password work as well.
 * - `device`: our page opens. The gateway admits devices by address, without username and password.
 */
export type SignInMethod = 'typed' | 'code' | 'device';

/** @param gateways all gateways of one router */
export function signInMethodOf(gateways: readonly RegisteredGateway[]): SignInMethod {
	// hostapd has no page: devices ask for the Wi-Fi password.
	const portals = gateways.filter(({ kind }) => kind !== 'hostapd');
	if (portals.length === 0) return 'typed';
	return portals.some((gateway) => adapterOf(gateway.kind).takesPassword(gateway)) ? 'code' : 'device';
}
