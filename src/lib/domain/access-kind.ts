/**
 * What a bought password is on a router, by what its hardware can do:
 * - `wpa_personal_per_client`: the password of the Wi-Fi itself, one for each pass (per-client PSK by RADIUS);
 * - `wpa_enterprise`: with the user name, the sign-in of the Wi-Fi itself (PEAP);
 * - `portal_login`: with the user name, the sign-in of the hotspot on an open network, or one with a shared password;
 * - `shared_password`: the owner's own password, the same for all: nothing can end it for one buyer.
 */
export const ACCESS_KINDS = [
	'wpa_personal_per_client',
	'wpa_enterprise',
	'portal_login',
	'shared_password'
] as const;
export type AccessKind = (typeof ACCESS_KINDS)[number];

/** Whether the end of the time can be enforced there. */
export const endsByItself = (kind: AccessKind): boolean => kind !== 'shared_password';

/** Whether the user name is asked for beside the password. */
export const asksUserName = (kind: AccessKind): boolean =>
	kind === 'wpa_enterprise' || kind === 'portal_login';

/** Whether the Wi-Fi itself takes the bought password, and lets nobody in without it. */
export const isWifiPassword = (kind: AccessKind): boolean =>
	kind === 'wpa_personal_per_client' || kind === 'wpa_enterprise';

/**
 * Whether the network has a password beside what is bought, or in its place, that guests are shown: on an open network
 * there is none.
 */
export const hasNetworkPassword = (kind: AccessKind, security: 'wpa' | 'nopass'): boolean =>
	security === 'wpa' && !isWifiPassword(kind);
