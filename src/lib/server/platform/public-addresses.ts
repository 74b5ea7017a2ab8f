import ipaddr from 'ipaddr.js';

/**
 * Which addresses requests to other people's hosts may go to: public ones, so that nobody reaches into our own
 * network through us.
 */

const GLOBAL_IPV6 = ipaddr.IPv6.parse('2000::');
const GLOBAL_IPV6_BITS = 3;

/**
 * Whether an address is of the public internet. IPv4 addresses inside IPv6 ones are judged as what they are.
 * What has no entry in the tables of ipaddr.js counts as `unicast` there (`::7f00:1`, say): of IPv6 only 2000::/3,
 * which is all that is given out, is public.
 */
export function isPublicAddress(address: string): boolean {
	if (!ipaddr.isValid(address)) return false;
	const parsed = ipaddr.process(address);
	if (parsed.range() !== 'unicast') return false;
	return !(parsed instanceof ipaddr.IPv6) || parsed.match(GLOBAL_IPV6, GLOBAL_IPV6_BITS);
}
