import ipaddr from 'ipaddr.js';

/**
 * IP addresses: one spelling of each, the networks that they are counted by, and ranges.
 *
 * An address arrives in many spellings: with the port of a proxy (Azure), in brackets and quotes (`Forwarded`, RFC 7239),
 * as IPv4 inside IPv6 (Node's sockets), with a zone, in capitals. Compared or counted as text, each would be another
 * address: a limit would count nothing, and a listed operator would not be listed.
 */

type Parsed = ipaddr.IPv4 | ipaddr.IPv6;

/** RFC 7239, section 6: a port, or a name that hides it. */
const PORT = /:(?:(\d{1,5})|_[\w.-]+)$/;
const MAX_PORT = 65_535;
/** Characters of an address with brackets, zone and port; a header from outside can have thousands. */
const MAX_WRITTEN = 100;

/**
 * Returns the address alone in its one spelling: dotted IPv4, also if it is written inside IPv6, or lower-case IPv6 as
 * in RFC 5952. Takes blanks, quotes, brackets, a port and a zone away.
 * @returns null if the text is not an address, for example "unknown" or "_hidden"
 */
export function normaliseIp(text: string): string | null {
	if (text.length > MAX_WRITTEN) return null;
	const plain = text.trim().replace(/^"(.*)"$/, '$1');
	return (parse(plain) ?? parse(withoutPort(plain)))?.toString() ?? null;
}

function withoutPort(text: string): string {
	const port = PORT.exec(text);
	return port && Number(port[1] ?? 0) <= MAX_PORT ? text.slice(0, port.index) : text;
}

/** ipaddr.js alone also takes `1`, `0x7f.1` and `010.0.0.1`. */
function parse(text: string): Parsed | null {
	const plain = text
		.trim()
		.replace(/^\[(.+)\]$/, '$1')
		.replace(/%\S*$/, '');
	const isIp = ipaddr.IPv4.isValidFourPartDecimal(plain) || ipaddr.IPv6.isValid(plain);
	return isIp ? ipaddr.process(plain) : null;
}

/**
 * The networks by which IPv6 is counted: a /64 is one link, a /56 what a customer usually gets, a /48 a site
 * (RFC 6177). Someone with a /56 has 256 links.
 */
const IPV6_NETWORK_BITS = [64, 56, 48] as const;

/**
 * Returns the networks of an address, from the smallest: of IPv6 its /64, /56 and /48, of IPv4 the address itself.
 * @param address in its one spelling
 */
export function networksOfIp(address: string): [string, ...string[]] {
	const parsed = ipaddr.parse(address);
	if (parsed instanceof ipaddr.IPv4) return [address];
	const [link, ...larger] = IPV6_NETWORK_BITS.map(
		(bits) => ipaddr.IPv6.networkAddressFromCIDR(`${address}/${bits}`).toString() + `/${bits}`
	);
	return [link ?? address, ...larger];
}

/** Addresses that begin with the same bits. */
interface IpRange {
	first: Parsed;
	bits: number;
}

/** Reads `196.201.214.200`, `10.0.0.0/8`, `2001:db8::/32` or `::ffff:10.0.0.0/104`. Returns null for anything else. */
export function readIpRange(text: string): IpRange | null {
	const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text.trim()) ?? [];
	const first = parse(address);
	if (first === null) return null;
	const all = first.toByteArray().length * 8;
	// Prefixes of IPv4 inside IPv6 count the 96 bits before it.
	const before = address.includes(':') ? 128 - all : 0;
	const length = bits === undefined ? all : Number(bits) - before;
	return length >= 0 && length <= all ? { first, bits: length } : null;
}

/** @param address in its one spelling */
export function isInRange(address: string, { first, bits }: IpRange): boolean {
	const parsed = ipaddr.parse(address);
	return parsed.kind() === first.kind() && parsed.match(first, bits);
}

const GLOBAL_IPV6 = ipaddr.IPv6.parse('2000::');
const GLOBAL_IPV6_BITS = 3;

/**
 * True for a public address. Requests to hosts that others chose go nowhere else, so that nobody reaches the internal
 * network through Airtill. Checks IPv4 addresses inside IPv6 as IPv4. ipaddr.js takes unknown ranges for `unicast`
 * (`::7f00:1`, for example): of IPv6, only 2000::/3, the range in use, is public.
 */
export function isPublicAddress(address: string): boolean {
	if (!ipaddr.isValid(address)) return false;
	const parsed = ipaddr.process(address);
	if (parsed.range() !== 'unicast') return false;
	return !(parsed instanceof ipaddr.IPv6) || parsed.match(GLOBAL_IPV6, GLOBAL_IPV6_BITS);
}

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
