import type { WifiSecurity } from './wifi/wifi-qr.ts';

/**
 * How a pass gives access at a router:
 * - `wpa_personal_per_client`: a separate Wi-Fi password for each pass (per-client PSK by RADIUS)
 * - `wpa_enterprise`: a username and password for the Wi-Fi itself (PEAP)
 * - `portal_login`: a username and password for the hotspot's sign-in page
 * - `shared_password`: the owner's Wi-Fi password, the same for all buyers; it cannot end for one of them
 */
export const ACCESS_KINDS = [
	'wpa_personal_per_client',
	'wpa_enterprise',
	'portal_login',
	'shared_password'
] as const;
export type AccessKind = (typeof ACCESS_KINDS)[number];

/** Returns whether the gateway can enforce the end of a pass. */
export const endsByItself = (kind: AccessKind): boolean => kind !== 'shared_password';

export const asksUserName = (kind: AccessKind): boolean =>
	kind === 'wpa_enterprise' || kind === 'portal_login';

export const isWifiPassword = (kind: AccessKind): boolean =>
	kind === 'wpa_personal_per_client' || kind === 'wpa_enterprise';

/** Returns whether buyers also need the network's own password. */
export const hasNetworkPassword = (kind: AccessKind, security: WifiSecurity): boolean =>
	security === 'wpa' && !isWifiPassword(kind);
