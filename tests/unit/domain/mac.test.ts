import { describe, expect, it } from 'vitest';
import { nameDevice, normaliseMac } from '#lib/domain/address.ts';

describe('a MAC address', () => {
	it.each([
		...['ec:f4:bb:37:dd:aa', 'EC-F4-BB-37-DD-AA', 'ecf4bb37ddaa', 'ecf4.bb37.ddaa', ' ECF4.BB37.DDAA '],
		...['ecf4-bb37-ddaa', 'ecf4:bb37:ddaa', 'ecf4bb-37ddaa', 'ecf4bb:37ddaa', 'ec.f4.bb.37.dd.aa'],
		...[
			'ec f4 bb 37 dd aa',
			'ec:f4-bb:37 dd.aa',
			'ec_f4_bb_37_dd_aa',
			'ecf-4bb-37d-daa',
			'EC/F4/BB/37/DD/AA'
		],
		// A non-breaking hyphen, from a page.
		'ec\u2011f4\u2011bb\u201137\u2011dd\u2011aa',
		...['"ec:f4:bb:37:dd:aa"', '<EC-F4-BB-37-DD-AA>', '(ecf4-bb37-ddaa)', 'ecf4bb37ddaa\0'],
		...['EC-F4-BB-37-DD-AA:Airtill', 'ecf4bb37ddaa:cafe', 'ec:f4:bb:37:dd:aa:Lobby: 2', 'ecf4-bb37-ddaa:']
	])('%j is understood however its gateway writes it', (text) => {
		expect(normaliseMac(text)).toBe('ec:f4:bb:37:dd:aa');
		expect(nameDevice(text)).toBe('ec:f4:bb:37:dd:aa');
	});

	it.each([
		...['', 'aabb.ccdd', 'aabb.ccdd.eefg', 's12', 'aabbccddeeff1', 'aa-bb-cc-dd-ee-ff Airtill'],
		// Longer addresses.
		...['aa-bb-cc-dd-ee-ff-00-11', 'aa:bb:cc:dd:ee:ff:00:11', 'aabb:ccdd:eeff:0011', `80${':00'.repeat(19)}`],
		// IP addresses with twelve digits.
		...['192.168.100.100', 'fe80::1234:5678', '2001:db:1:1:1:1:1:1'],
		// What gateways send for no device in particular.
		...['00:00:00:00:00:00', 'FF-FF-FF-FF-FF-FF', '0000-0000-0000:Airtill']
	])('%j is none', (text) => {
		expect(normaliseMac(text)).toBeNull();
	});

	it.each<[string, string | null]>([
		['Client-17', 'client-17'],
		[' 192.168.100.100', '192.168.100.100'],
		['AA-BB-CC-DD-EE-FF-00-11', 'aa-bb-cc-dd-ee-ff-00-11'],
		...['', 'unknown', 'n/a', '0.0.0.0', '00-00-00-00-00-00', 'ffff.ffff.ffff:Lobby 2'].map(
			(text): [string, null] => [text, null]
		)
	])('%j names the device %j if nothing better is there', (text, name) => {
		expect(nameDevice(text)).toBe(name);
	});
});
