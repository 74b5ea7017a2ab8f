import type { RegisteredGateway } from '../gateways.ts';
import { adapterOf } from '../registry.ts';

/**
 * How a returning buyer, or another device, signs in at a hotspot.
 * - `typed`: no gateway of ours serves the page; the buyer types username and password on the hotspot's own page.
 * - `code`: our page opens; the resume code finds the purchase. Username and password work as well.
 * - `device`: our page opens; nothing asks for username and password, because devices are let online by address.
 */
export type SignInMethod = 'typed' | 'code' | 'device';

/** @param gateways all gateways of one router */
export function signInMethodOf(gateways: readonly RegisteredGateway[]): SignInMethod {
	// hostapd has no page: the Wi-Fi itself asks for the password.
	const portals = gateways.filter(({ kind }) => kind !== 'hostapd');
	if (portals.length === 0) return 'typed';
	return portals.some((gateway) => adapterOf(gateway.kind).takesPassword(gateway)) ? 'code' : 'device';
}
