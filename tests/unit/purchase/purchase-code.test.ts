import { describe, expect, it } from 'vitest';
import { CODE_BYTES, codeOfBytes, codeText, readCode } from '#lib/server/portal/purchases.ts';
import { computeWarnSeconds } from '#lib/purchase/state.ts';

describe('a short code', () => {
	it.each([
		[[0, 0, 0, 0, 0], '0000-0000'],
		[[255, 255, 255, 255, 255], 'ZZZZ-ZZZZ'],
		[[0, 0, 0, 0, 1], '0000-0001'],
		[[0x08, 0x42, 0x10, 0x84, 0x21], '1111-1111']
	])('of the bytes %j is %s', (bytes, code) => {
		expect(bytes).toHaveLength(CODE_BYTES);
		expect(codeText(codeOfBytes(Uint8Array.from(bytes)))).toBe(code);
	});

	it.each([
		...['K7MQ-29XT', 'k7mq-29xt', ' K7MQ 29XT ', 'K7MQ29XT', 'K7MQ–29XT', 'K7MQ\u2060-\u206029XT'],
		...['K7MQ\u2011٢٩XT', 'k7mq ۲۹xt', 'Ｋ７ＭＱ２９ＸＴ', '"K7MQ-29XT".']
	])('is read from %s', (typed) => {
		expect(readCode(typed)).toBe('K7MQ29XT');
	});

	it('is read from look-alikes', () => {
		expect(readCode('oOiI-lLuU')).toBe('001111VV');
	});

	it.each(['', 'K7MQ-29X', 'K7MQ-29XTT', 'K7MQ-29X?', 'K7MQ-29XÄ', '1'.repeat(65), 'ልልልልልልልል'])(
		'is not read from %s',
		(typed) => {
			expect(readCode(typed)).toBeNull();
		}
	);
});

it('a pass warns ten minutes before its end; a short one later, but with time to pay', () => {
	const minutes = (total: number) => computeWarnSeconds(total * 60) / 60;
	expect([15, 30, 60, 100, 120, 7 * 24 * 60].map(minutes)).toEqual([2, 3, 6, 10, 10, 10]);
});
