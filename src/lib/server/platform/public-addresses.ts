import ipaddr from 'ipaddr.js';

/**
 * Public IP addresses: the only ones that requests to other people's hosts may go to, so that nobody reaches the
 * internal network through Airtill.
 */

const GLOBAL_IPV6 = ipaddr.IPv6.parse('2000::');
const GLOBAL_IPV6_BITS = 3;

/**
 * True for a public address. IPv4 addresses inside IPv6 ones are checked as IPv4. Ranges without an entry in
 * ipaddr.js count as `unicast` there (`::7f00:1`, for example), so of IPv6 only 2000::/3, the range in use, is public.
 */
export function isPublicAddress(address: string): boolean {
	if (!ipaddr.isValid(address)) return false;
	const parsed = ipaddr.process(address);
	if (parsed.range() !== 'unicast') return false;
	return !(parsed instanceof ipaddr.IPv6) || parsed.match(GLOBAL_IPV6, GLOBAL_IPV6_BITS);
}
