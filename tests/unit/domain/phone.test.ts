import { afterEach, describe, expect, it } from 'vitest';
import {
	formatMobile,
	hideMiddle,
	maskPhone,
	parseMobile,
	searchedDigits,
	setHomeRegion
} from '#lib/domain/phone.ts';

afterEach(() => setHomeRegion(''));

describe('a mobile number', () => {
	it.each([
		...['+256772123456', '0772123456', '256772123456', '772123456', ' 0772 123 456 ', '0772-123456'],
		...['+256 772 123456', '(0772) 123456', '0772.123.456', '0772123456\t\n', '0772\u202f123\u202f456'],
		...['00 256 (0) 772 123 456', '000256772123456', '(+256) 772 123456', '(00256) 772123456'],
		...['+00256772123456', '+256 (0)772 123456', '+2560772123456', 'tel:+256772123456', 'TEL: 0772-123-456'],
		...['sms:+256772123456', 'callto:0772123456', '+0772 123456'],
		...['0\ufe0f\u20e37\ufe0f\u20e372123456', '0772\u200d123456', '\u061c0772123456'],
		...['०७७२१२३४५६', '٠٧٧٢١٢٣٤٥٦', '۰۷۷۲۱۲۳۴۵۶', '＋２５６７７２１２３４５６', '০৭৭২১২৩৪৫৬', '𝟎𝟕𝟕𝟐𝟏𝟐𝟑𝟒𝟓𝟔'],
		...['\u202a+256 772 123456\u202c', '\u200e0772123456', '\ufeff0772123456', '\u20680772\u200b123456\u2069']
	])('%j is +256772123456 in Uganda', (text) => {
		expect(parseMobile(text, 'UG')).toBe('+256772123456');
	});

	it.each([
		['+254712345678', 'UG', '+254712345678'],
		['0712345678', 'KE', '+254712345678'],
		['+233241234567', 'UG', '+233241234567'],
		...['UG', 'KE', 'TZ', 'NG', 'GH', 'RW', 'ZA', 'US'].flatMap((region) => [
			['00256772123456', region, '+256772123456'],
			['00 (254) 712 345678', region, '+254712345678']
		]),
		['000256772123456', 'TZ', '+256772123456'],
		['009256772123456', 'NG', '+256772123456'],
		['00971501234567', 'NG', '+971501234567']
	])('%j in %s is %s: other countries pay too', (text, region, e164) => {
		expect(parseMobile(text, region)).toBe(e164);
	});

	it.each([
		['a landline', '0414123456'],
		['a landline with its country and no plus', '256414123456'],
		['a foreign landline', '+442079460958'],
		['a free number', '+256800123456'],
		['a digit too few', '077212345'],
		['a digit too many', '07721234567'],
		['an extension', '0772123456 ext 5'],
		['a short code', '*165#'],
		['two numbers', '0772123456 / 0773123456'],
		['words around it', 'call 0772123456'],
		['a letter behind it', '0772123456a'],
		['nothing', ''],
		['a plus', '+'],
		['a NUL', '0772123456\u0000'],
		['too much to read', `0772123456${' '.repeat(40)}`]
	])('%s is none: %j', (_what, text) => {
		expect(parseMobile(text, 'UG')).toBeNull();
	});

	it('stays the same when it is read again', () => {
		for (const text of ['0772123456', '+254712345678', '0701234567', '+233241234567']) {
			const e164 = parseMobile(text, 'UG') ?? '';
			expect(parseMobile(e164, 'KE')).toBe(e164);
			expect(
				parseMobile(
					formatMobile(e164),
					e164.startsWith('+256') ? 'UG' : e164.startsWith('+254') ? 'KE' : 'GH'
				)
			).toBe(e164);
		}
	});

	it.each([
		['+256772123456', '0772 123456', '0772\u00a0•••\u00a0456'],
		['+254712345678', '+254 712 345678', '+254\u00a0712\u00a0•••\u00a0678'],
		['+250783456789', '+250 783 456 789', '+250\u00a0783\u00a0•••\u00a0789'],
		['+2250712345678', '+225 07 12 34 5678', '+225\u00a0071\u00a0•••\u00a0678']
	])('%s is shown in Uganda as %s, and read back', (e164, shown, hidden) => {
		setHomeRegion('UG');
		expect(formatMobile(e164)).toBe(shown);
		expect(parseMobile(formatMobile(e164), 'UG')).toBe(e164);
		expect(hideMiddle(formatMobile(e164))).toBe(hidden);
	});

	it.each([
		['0772 123-456', '0772123456'],
		['tel:+256 (0) 772 123456', '256772123456'],
		['\u202a٣٤٥٦\u202c', '3456'],
		['QK7 12', '']
	])('%j is searched as "%s"', (typed, digits) => {
		expect(searchedDigits(typed)).toBe(digits);
	});

	it('shows its country and last four digits when it is masked, and nothing else', () => {
		expect(maskPhone('+256772123456')).toBe('+256*****3456');
		expect(maskPhone('+254712345678')).toBe('+254*****5678');
		expect(maskPhone('+12125550100')).toBe('+1*****0100');
	});
});
