/** How a network is protected, as far as a QR code can say it. WPA stands for WPA, WPA2 and WPA3. */
export type WifiSecurity = 'wpa' | 'nopass';

const escapeField = (text: string) => text.replace(/[\\;,:"]/g, '\\$&');

/**
 * Text of a Wi-Fi QR code as phones' cameras read it (ZXing's format; readers ignore what they do not know).
 * T first and P last for strict readers; `T:WPA` for every WPA generation, because readers ignore others.
 * @param network SSID of at most 32 bytes; a password for `wpa`, ignored for `nopass`
 * @see https://github.com/zxing/zxing/wiki/Barcode-Contents#wi-fi-network-config-android-ios-11
 */
export function wifiQrText(network: {
	ssid: string;
	security: WifiSecurity;
	password: string | null;
}): string {
	const ssid = escapeField(network.ssid);
	if (network.security === 'nopass' || network.password === null) return `WIFI:T:nopass;S:${ssid};;`;
	return `WIFI:T:WPA;S:${ssid};P:${escapeField(network.password)};;`;
}
