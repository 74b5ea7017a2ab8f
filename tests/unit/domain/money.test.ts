import { describe, expect, it } from 'vitest';
import {
	CURRENCIES,
	currencyExponent,
	formatMoney,
	MAX_AMOUNT_MINOR,
	priceForSeconds,
	toMajor,
	toMinor
} from '../../../src/lib/domain/money.ts';

describe('the exponent of a currency', () => {
	it.each([
		[0, ['UGX', 'RWF', 'XAF', 'XOF', 'BIF', 'GNF']],
		[2, ['KES', 'TZS', 'GHS', 'ZMW', 'CDF', 'NGN', 'MWK', 'ZAR']]
	])('is %i for the currencies that the wire format lists', (exponent, currencies) => {
		for (const currency of currencies) {
			expect(CURRENCIES).toContain(currency);
			expect(currencyExponent(currency)).toBe(exponent);
		}
	});

	it('is not guessed for a currency that is not in the table', () => {
		for (const currency of ['JPY', 'ugx', '', 'toString', '__proto__']) {
			expect(() => currencyExponent(currency)).toThrow(/Unknown currency/);
		}
	});
});

describe('an amount from the wire', () => {
	it.each([
		[500, 'UGX', 500],
		[1, 'UGX', 1],
		[10 ** 12, 'UGX', 10 ** 12],
		[0.01, 'KES', 1],
		[0.29, 'KES', 29],
		[1.1, 'KES', 110],
		[4.35, 'KES', 435],
		[1e10, 'KES', 10 ** 12]
	])('%d %s are %i minor units', (major, currency, minor) => {
		expect(toMinor(major, currency)).toBe(minor);
	});

	it.each([
		[0, 'UGX'],
		[-0, 'UGX'],
		[-1, 'UGX'],
		[0.5, 'UGX'],
		[500.000002, 'UGX'],
		[0.001, 'KES'],
		[1.005, 'KES'],
		[0.000000001, 'KES'],
		[10 ** 12 + 1, 'UGX'],
		[1e10 + 0.01, 'KES'],
		[1e300, 'KES'],
		[Infinity, 'UGX'],
		[NaN, 'UGX']
	])('%d %s are refused', (major, currency) => {
		expect(toMinor(major, currency)).toBeNull();
	});

	it('survives the way out and back in, up to 80 million with cents', () => {
		const amounts: number[] = [];
		for (let minor = 1; minor < 8e9; minor = Math.ceil(minor * 1.0007)) amounts.push(minor);
		for (const currency of ['UGX', 'KES']) {
			const back = amounts.map((minor) => toMinor(toMajor(minor, currency), currency));
			expect(back, currency).toEqual(amounts);
		}
		expect(toMinor(toMajor(MAX_AMOUNT_MINOR, 'UGX'), 'UGX')).toBe(MAX_AMOUNT_MINOR);
	});

	it('has no more decimals on the wire than its currency', () => {
		const amounts = Array.from({ length: 20_000 }, (_, minor) => JSON.stringify(toMajor(minor + 1, 'KES')));
		expect(amounts.filter((amount) => !/^\d+(\.\d{1,2})?$/.test(amount))).toEqual([]);
	});
});

describe('the price of a time', () => {
	it.each([
		[500, 7_200, 1000],
		[500, 900, 125],
		[3, 1_800, 2],
		[5, 900, 1],
		[6, 900, 2],
		[7, 900, 2],
		[1, 1_799, 1],
		[1, 900, 1],
		[1, 1, 1],
		[999, 3_601, 999]
	])('%i an hour for %i s is %i: rounded half up, at least one minor unit', (price, seconds, amount) => {
		expect(priceForSeconds(price, seconds)).toBe(amount);
	});

	it('equals exact arithmetic where the product is beyond 2^53', () => {
		const price = 99_999_999_999;
		for (let seconds = 900; seconds <= 30 * 86_400; seconds += 12_347) {
			expect(price * seconds).toBeGreaterThan(seconds > 100_000 ? Number.MAX_SAFE_INTEGER : 0);
			const [whole, rest] = [
				(BigInt(price) * BigInt(seconds)) / 3600n,
				(BigInt(price) * BigInt(seconds)) % 3600n
			];
			expect(priceForSeconds(price, seconds)).toBe(Number(rest >= 1800n ? whole + 1n : whole));
		}
	});
});

it('is written code first, with decimals only where there are any', () => {
	expect(formatMoney(1000, 'UGX')).toBe('UGX\u00a01,000');
	expect(formatMoney(12, 'KES')).toBe('KES\u00a012');
	expect(formatMoney(12.5, 'KES')).toBe('KES\u00a012.50');
});

it('an amount too large for exact products is still told from one with too many decimals', () => {
	expect(toMinor(134_459_476.55, 'KES')).toBe(13_445_947_655);
	expect(toMinor(134_459_476.555, 'KES')).toBeNull();
});
