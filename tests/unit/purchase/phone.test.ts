import { expect, it } from 'vitest';
import { groupNumber, isWhole } from '#lib/enhance/phone.ts';

it.each([
	['0', '0'],
	['0772', '0772'],
	['07721', '0772 1'],
	['0772123456', '0772 123456'],
	['07721234567', '0772 1234567'],
	['772123456', '772 123456'],
	['+256', '+256'],
	['+256772123456', '+256 772 123 456'],
	['256772123456', '256 772 123 456'],
	['00254712345678', '00254712345678'],
	['+254712345678', '+254 712 345 678'],
	['tel:+256-772-123-456', '+256 772 123 456'],
	['+256 (0) 772 123456', '+256 772 123 456'],
	['+256 0772 123456', '+256 772 123 456'],
	['+254 0712 345678', '+254 071 234 567 8'],
	['(0772) 123 456', '0772 123456'],
	['٠٧٧٢١٢٣٤٥٦', '0772 123456'],
	['\u202a0772\u00a0123456\u202c', '0772 123456'],
	['', '']
])('the number "%s", typed or pasted, is shown as "%s"', (typed, shown) => {
	expect(groupNumber(typed, '712 345678', '+256')).toBe(shown);
	expect(groupNumber(shown, '712 345678', '+256')).toBe(shown);
});

it('groups a number whose zero belongs to it abroad too', () => {
	expect(groupNumber('0123456789', '01 23 45 6789', '+225')).toBe('01 23 45 6789');
	expect(groupNumber('+2250123456789', '01 23 45 6789', '+225')).toBe('+225 012 345 678 9');
});

it('keeps a zero behind digits that are the prefix of the country by chance', () => {
	expect(groupNumber('7001234567', '771 000 9998', '+7')).toBe('700 123 456 7');
});

it('the prefix is not shown before a number that has a country code or the 0 dialled at home', () => {
	const typed = ['0772', '+256 772', '256 772', '00254', '772', ''];
	const whole = typed.map((number) => isWhole(number, '712 345678', '+256'));
	expect(whole).toEqual([true, true, true, true, false, false]);
	// In Ivory Coast the 0 belongs to the number.
	expect(isWhole('01 23', '01 23 45 6789', '+225')).toBe(false);
});
