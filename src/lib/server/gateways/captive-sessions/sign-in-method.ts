import type { RegisteredGateway } from '../gateways.ts';
import { adapterOf } from '../registry.ts';

/**
 * How somebody signs in to a hotspot who comes back to it, or comes with another device. `typed`: no gateway of ours
 * stands there, so user name and password are typed on whatever page it has. `code`: its page is ours, where the code
 * brings the purchase back and the rest is done; user name and password work as well. `device`: so too, and nobody ever
 * asks for user name and password, as devices are let in by their address.
 */
export type SignInMethod = 'typed' | 'code' | 'device';

/** @param gateways those of one router */
export function signInMethodOf(gateways: readonly RegisteredGateway[]): SignInMethod {
	// hostapd has no page: the Wi-Fi itself asks.
	const portals = gateways.filter(({ kind }) => kind !== 'hostapd');
	if (portals.length === 0) return 'typed';
	return portals.some((gateway) => adapterOf(gateway.kind).takesPassword(gateway)) ? 'code' : 'device';
}
