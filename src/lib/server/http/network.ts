import ipaddr from 'ipaddr.js';

/** A page's event has this method. */
interface Source {
	getClientAddress(): string;
}

/** Returns 'unknown' if the request bypassed the ADDRESS_HEADER proxy. */
export function sourceAddress(source: Source): string {
	try {
		return source.getClientAddress();
	} catch {
		return 'unknown';
	}
}

/** Requests that bypass the ADDRESS_HEADER proxy share one count. */
export const networkOf = (source: Source): string => network(sourceAddress(source));

/** Removes the port that some proxies add, and cuts IPv6 to its /64, which one customer usually holds. */
export function network(address: string): string {
	const plain = address.replace(/%.*$/, '').replace(/((?:\d{1,3}\.){3}\d{1,3}):\d+$/, '$1');
	if (!ipaddr.isValid(plain)) return plain;
	const parsed = ipaddr.process(plain);
	if (parsed instanceof ipaddr.IPv4) return parsed.toString();
	const groups = parsed.parts.slice(0, 4).map((group) => group.toString(16));
	return `${groups.join(':')}::/64`;
}
