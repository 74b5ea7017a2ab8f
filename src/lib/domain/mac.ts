/** Twelve hexadecimal digits, with anything but letters and digits around them; then perhaps a name. */
const WRITTEN = /^[^\p{L}\p{N}]*([0-9a-f](?:[^\p{L}\p{N}]*[0-9a-f]){11})[^\p{L}\p{N}]*?(:.*)?$/su;
/** All devices, or none: gateways send it when they know no address. */
const NOBODY = /^(?:0{12}|f{12})$/;

/**
 * Writes a MAC address as `aa:bb:cc:dd:ee:ff`. Reads every notation, because vendors separate the digits as they like
 * (`ec-f4-…`, `ecf4.bb37.ddaa`, Huawei's `ecf4-bb37-ddaa`), and skips the `:SSID` that RADIUS clients may append
 * (RFC 3580, 3.20). Returns null if the text is not the MAC address of one device.
 */
export function normaliseMac(text: string): string | null {
	const digits = readDigits(text);
	return digits === null || NOBODY.test(digits) ? null : digits.replace(/..(?=.)/g, '$&:');
}

/**
 * Returns what tells a device from others: its MAC address, or else what its gateway calls it. Returns null for a text
 * without a number, such as `unknown`: every device would have the same name.
 */
export function nameDevice(text: string): string | null {
	const digits = readDigits(text);
	if (digits !== null) return normaliseMac(digits);
	return /[1-9]/.test(text) ? text.trim().toLowerCase() : null;
}

function readDigits(text: string): string | null {
	const written = text.trim().toLowerCase();
	const [, address = '', name = ''] = WRITTEN.exec(written) ?? [];
	if (address === '' || isIpAddress(written) || isLonger(address, name)) return null;
	return address.replace(/[^0-9a-f]/g, '');
}

/** RADIUS clients without a MAC address send an IP address, which can have twelve digits. */
const isIpAddress = (text: string) =>
	/^\d{1,3}(?:\.\d{1,3}){3}$/.test(text) ||
	(/^[0-9a-f:]+$/.test(text) && (text.includes('::') || text.split(':').length === 8));

/** Whether the "name" only continues a longer address (EUI-64, InfiniBand). */
function isLonger(address: string, name: string): boolean {
	const group = /:([0-9a-f]+)$/.exec(address)?.[1]?.length;
	return group !== undefined && new RegExp(`^(?::[0-9a-f]{${group}})+$`).test(name);
}
