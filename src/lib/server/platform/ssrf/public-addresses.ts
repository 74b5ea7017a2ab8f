import ipaddr from 'ipaddr.js';

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
