import { describe, expect, it } from 'vitest';
import { network } from '../../../src/lib/server/http/network.ts';

describe('the network that is counted for an address', () => {
	it.each([
		['203.0.113.7', '203.0.113.7'],
		['::ffff:203.0.113.7', '203.0.113.7'],
		['::FFFF:203.0.113.7', '203.0.113.7'],
		['203.0.113.7:1000', '203.0.113.7'],
		['::ffff:203.0.113.7:1000', '203.0.113.7'],
		['127.0.0.1', '127.0.0.1'],
		['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
		['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
		['2001:db8::1', '2001:db8:0:0::/64'],
		['2001:db8::', '2001:db8:0:0::/64'],
		['2001:db8:0:0:1::', '2001:db8:0:0::/64'],
		['2001::2:3:4:5:6:7', '2001:0:2:3::/64'],
		['::1', '0:0:0:0::/64'],
		['::', '0:0:0:0::/64'],
		['fe80::1%eth0', 'fe80:0:0:0::/64'],
		['fe80::abcd:1%3', 'fe80:0:0:0::/64'],
		['64:ff9b::203.0.113.7', '64:ff9b:0:0::/64']
	])('of %s is %s', (address, counted) => {
		expect(network(address)).toBe(counted);
	});

	it('is the same for all addresses of one /64, however they are written', () => {
		const same = [
			'2001:db8:a:b::',
			'2001:db8:a:b::1',
			'2001:db8:a:b:ffff:ffff:ffff:ffff',
			'2001:0db8:000A:B:0::9'
		];
		expect(new Set(same.map(network)).size).toBe(1);
		expect(network('2001:db8:a:c::1')).not.toBe(network('2001:db8:a:b::1'));
	});

	it('is different for different IPv4 addresses', () => {
		expect(network('::ffff:203.0.113.7')).not.toBe(network('::ffff:203.0.113.8'));
	});
});
