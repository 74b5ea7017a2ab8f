import { describe, expect, it } from 'vitest';
import { normaliseMac } from '../../../src/lib/domain/mac.ts';

describe('a MAC address', () => {
	it.each(['aa:bb:cc:dd:ee:ff', 'AA-BB-CC-DD-EE-FF', 'aabbccddeeff', 'aabb.ccdd.eeff', ' AABB.CCDD.EEFF '])(
		'%j is understood however its gateway writes it',
		(text) => {
			expect(normaliseMac(text)).toBe('aa:bb:cc:dd:ee:ff');
		}
	);

	it.each([
		'',
		'aa:bb-cc:dd:ee:ff',
		'aabb.ccdd',
		'aabb.ccddeeff',
		'aa.bb.cc.dd.ee.ff',
		'aabb.ccdd.eefg',
		's12'
	])('%j is none', (text) => {
		expect(normaliseMac(text)).toBeNull();
	});
});
