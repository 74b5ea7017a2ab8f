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
