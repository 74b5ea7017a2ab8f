import { parseId } from './text.ts';

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

/** IEEE 802.11i, annex H.4: a WPA passphrase is 8 to 63 printable ASCII characters. */
export const MIN_WIFI_PASSWORD = 8;
export const MAX_WIFI_PASSWORD = 63;

type WifiPasswordProblem = 'short' | 'long' | 'characters' | 'hex';

/** Returns why a text cannot be a WPA password, or null. `hex`: phones and QR codes need a passphrase. */
export function wifiPasswordProblem(text: string): WifiPasswordProblem | null {
	if (/^[0-9a-f]{64}$/i.test(text)) return 'hex';
	if (!/^[\x20-\x7e]*$/.test(text)) return 'characters';
	if (text.length < MIN_WIFI_PASSWORD) return 'short';
	return text.length > MAX_WIFI_PASSWORD ? 'long' : null;
}

/** `wpa` includes WPA2 and WPA3. */
export type WifiSecurity = 'wpa' | 'nopass';

const escapeField = (text: string) => text.replace(/[\\;,:"]/g, '\\$&');

const HEX = /^[0-9a-f]+$/i;

/**
 * Returns the text of a Wi-Fi QR code (ZXing's format). T is first and P last for strict readers. `T:WPA`
 * covers every WPA generation, because readers ignore other values.
 * @param network SSID of at most 32 bytes; the password is ignored for `nopass`
 * @see https://github.com/zxing/zxing/wiki/Barcode-Contents#wi-fi-network-config-android-ios-11
 */
export function wifiQrText(network: {
	ssid: string;
	security: WifiSecurity;
	password: string | null;
	/** The network does not announce its name, so a phone must ask for it. */
	hidden?: boolean;
}): string {
	// Readers take a name of hexadecimal digits for bytes, unless it is in quotation marks.
	const ssid = HEX.test(network.ssid) ? `"${network.ssid}"` : escapeField(network.ssid);
	const named = network.hidden ? `S:${ssid};H:true;` : `S:${ssid};`;
	if (network.security === 'nopass' || network.password === null) return `WIFI:T:nopass;${named};`;
	return `WIFI:T:WPA;${named}P:${escapeField(network.password)};;`;
}

/** Returns the username of a pass, which stays the same when time is added. */
export const loginUser = (passId: number): string => `s${passId}`;

/** Returns the pass id of a typed username, or null if it has another form. */
export function passOfUser(user: string): number | null {
	const [, digits = ''] = /^s(\d+)$/i.exec(user.trim()) ?? [];
	return parseId(digits);
}
