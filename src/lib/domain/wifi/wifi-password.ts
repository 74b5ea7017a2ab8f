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
