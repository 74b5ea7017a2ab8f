/** An IP address has one spelling, whoever wrote it, and is counted by the networks that it is in. */
import { describe, expect, it } from 'vitest';
import { isInRange, networksOfIp, normaliseIp, readIpRange } from '#lib/domain/address.ts';

describe('the one spelling', () => {
	it.each([
		['203.0.113.7', '203.0.113.7'],
		[' 203.0.113.7\t', '203.0.113.7'],
		['203.0.113.7:51234', '203.0.113.7'],
		['"203.0.113.7:51234"', '203.0.113.7'],
		['203.0.113.7:_port', '203.0.113.7'],
		['[203.0.113.7]:80', '203.0.113.7'],
		['::ffff:203.0.113.7', '203.0.113.7'],
		['::ffff:cb00:7107', '203.0.113.7'],
		['[::ffff:203.0.113.7]:1000', '203.0.113.7'],
		['2001:DB8:0:0::0001', '2001:db8::1'],
		['"[2001:DB8::1]:443"', '2001:db8::1'],
		['"[2001:db8::1]:_x.y-z"', '2001:db8::1'],
		['2001:db8:1:2:3:4:5:6:51234', '2001:db8:1:2:3:4:5:6'],
		['fe80::1%eth0', 'fe80::1'],
		['[fe80::1%25eth0]:80', 'fe80::1'],
		['::1', '::1'],
		['64:ff9b::203.0.113.7', '64:ff9b::cb00:7107']
	])('of %s is %s', (text, address) => {
		expect(normaliseIp(text)).toBe(address);
		expect(normaliseIp(address)).toBe(address);
	});

	it.each([
		...['', ' ', '""', '[]', 'unknown', '_hidden', '-', 'null', 'localhost', 'a.example:80'],
		...['1', '127.1', '0x7f.0.0.1', '010.0.0.1', '300.1.1.1', '203.0.113.7.8', '203.0.113', '203.0.113.7/24'],
		...['203.0.113.7:65536', '[2001:db8::1]:99999', '[2001:db8::1', '2001:db8::g', '2001:db8::/32', ':::'],
		...['203.0.113.7, 203.0.113.8', 'for=203.0.113.7', '[2001:db8::1]:', '203.0.113.7 x', '203.0.113.7:80:80']
	])('there is none of "%s"', (text) => {
		expect(normaliseIp(text)).toBeNull();
	});
});

describe('the networks', () => {
	it.each([
		['203.0.113.7', ['203.0.113.7']],
		['2001:db8:a:bcd:1::1', ['2001:db8:a:bcd::/64', '2001:db8:a:b00::/56', '2001:db8:a::/48']],
		['::1', ['::/64', '::/56', '::/48']]
	])('of %s are %j', (address, networks) => {
		expect(networksOfIp(address)).toEqual(networks);
	});
});

describe('a range', () => {
	it.each([
		['196.201.214.200', '196.201.214.200', '196.201.214.201'],
		['10.0.0.0/8', '10.255.0.1', '11.0.0.1'],
		['::ffff:10.0.0.0/104', '10.255.0.1', '11.0.0.1'],
		['2001:DB8::/32', '2001:db8:ffff::1', '2001:db9::1'],
		['0.0.0.0/0', '203.0.113.7', '2001:db8::1'],
		['::/0', '2001:db8::1', '203.0.113.7']
	])('%s has %s, and not %s', (text, inside, outside) => {
		const range = readIpRange(text);
		expect(range && [isInRange(inside, range), isInRange(outside, range)]).toEqual([true, false]);
	});

	it.each([
		...['home', '', '10.0.0.0/33', '2001:db8::/129', '10.0.0.0/', '/8', '10.0.0.0/8/8', '10.0.0.1:80'],
		...['10/8']
	])('is not "%s"', (text) => {
		expect(readIpRange(text)).toBeNull();
	});
});

it('a long text is no address, and is not searched for one', () => {
	const started = performance.now();
	expect(normaliseIp(`${'%'.repeat(50_000)} x`)).toBeNull();
	expect(performance.now() - started).toBeLessThan(500);
});
