import { describe, expect, it } from 'vitest';
import { LOCALES } from '#lib/i18n/locales.ts';
import { separatorsOf } from '#lib/i18n/intl.ts';
import { random } from '../../support/random.ts';
import {
	createFileReader,
	CURRENCIES,
	currencyExponent,
	formatMinor,
	formatMoney,
	formatReadings,
	MAX_AMOUNT_MINOR,
	priceForSeconds,
	readAmount,
	toMajor,
	toMinor
} from '#lib/domain/money.ts';

describe('the exponent of a currency', () => {
	it.each([
		[0, ['UGX', 'RWF', 'XAF', 'XOF', 'BIF', 'GNF']],
		[2, ['KES', 'TZS', 'GHS', 'ZMW', 'CDF', 'NGN', 'MWK', 'ZAR', 'MZN', 'AOA']]
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
		[0.29, 'KES', 29],
		[4.35, 'KES', 435],
		[1e10, 'KES', 10 ** 12]
	])('%d %s are %i minor units', (major, currency, minor) => {
		expect(toMinor(major, currency)).toBe(minor);
	});

	it.each([
		['UGX', [0, -0, -1, 0.5, 500.000002, 10 ** 12 + 1, Infinity, NaN]],
		['KES', [0.001, 1.005, 0.000000001, 1e10 + 0.01, 1e300]]
	])('is refused in %s: %j', (currency, majors) => {
		for (const major of majors) expect(toMinor(major, currency), String(major)).toBeNull();
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
		[3, 1_800, 2],
		[5, 900, 1],
		[6, 900, 2],
		[1, 1_799, 1],
		[1, 900, 1],
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
	expect(formatMoney(1500, 'KES', 'pt')).toBe('KES\u00a01\u00a0500');
	expect(formatMoney(1500, 'XAF', 'fr')).toBe('FCFA\u00a01\u00a0500');
	expect(formatMoney(1500, 'XOF', 'en')).toBe('FCFA\u00a01,500');
});

it('an amount too large for exact products is still told from one with too many decimals', () => {
	expect(toMinor(134_459_476.55, 'KES')).toBe(13_445_947_655);
	expect(toMinor(134_459_476.555, 'KES')).toBeNull();
});

describe('an amount as people write it', () => {
	const read = (text: string, currency: string, locale: (typeof LOCALES)[number] = 'en') =>
		readAmount(text, currency, separatorsOf(locale));

	it.each(LOCALES)('is read in %s as the pages show it, in every currency', (locale) => {
		const next = random(94);
		for (const currency of CURRENCIES) {
			const amounts = [1, 5, 50, 99, 100, 101, 999, 1000, 1050, 150_000, 100_000_000, MAX_AMOUNT_MINOR];
			for (let count = 0; count < 100; count += 1) amounts.push(1 + next(10 ** (1 + next(9))));
			for (const minor of amounts) {
				const shown = formatMinor(minor, currency, locale);
				const [, bare = ''] = shown.split(/^\S+\u00a0/u);
				const [code = ''] = shown.split('\u00a0');
				const ways = [shown, bare, `${bare} ${code}`, `${currency} ${bare}`, `\u2066${shown}\u2069`];
				ways.push(bare.replaceAll('\u00a0', '\u202f'), bare.replaceAll('\u00a0', ' '));
				expect(new Set(ways.map((text) => read(text, currency, locale))), shown).toEqual(new Set([minor]));
				expect(read(formatMoney(-toMajor(minor, currency), currency, locale), currency, locale)).toBe(-minor);
				expect(read(`−${shown}`, currency, locale), shown).toBe(-minor);
			}
		}
	});

	it.each([
		['0,50', 'KES', 50],
		['1.500,00', 'KES', 150_000],
		['1,00,000', 'KES', 10_000_000],
		['1’500.50', 'KES', 150_050],
		['KSh 1,800.00', 'KES', 180_000],
		['Shs. 500/=', 'UGX', 500],
		['1 500 F CFA', 'XAF', 1500],
		['₦1,500', 'NGN', 150_000],
		['GH₵ 2.50', 'GHS', 250],
		['١٬٥٠٠٫٥٠', 'KES', 150_050],
		['５００', 'UGX', 500],
		['\u200f500\u00a0', 'UGX', 500],
		['5\u200b00', 'UGX', 500],
		['1.500', 'UGX', 1500],
		['500-', 'UGX', -500],
		['(1,500.00)', 'KES', -150_000],
		['+500', 'UGX', 500],
		['-0.00', 'KES', 0]
	])('%j %s is %i', (text, currency, minor) => {
		expect(read(text, currency)).toBe(minor);
	});

	it.each([
		['ambiguous', 'KES', 'en', ['1.500']],
		['ambiguous', 'TZS', 'rw', ['1.500']],
		['ambiguous', 'KES', 'fr', ['1,500']],
		['not_a_number', 'UGX', 'en', ['1,00']],
		['not_a_number', 'KES', 'en', ['12 50', '1,5,0', '1,500,00', '1.5.0', '1e3', '0x10', '.5', '1.']],
		['not_a_number', 'KES', 'en', ['', '--5', '5 % 3', '½', '9'.repeat(80)]],
		['too_fine', 'UGX', 'en', ['0.5']],
		['too_fine', 'KES', 'fr', ['0,505']],
		['too_large', 'UGX', 'en', ['9999999999999']],
		['other_currency', 'KES', 'en', ['USD 5']],
		['other_currency', 'UGX', 'en', ['5 €']]
	] as const)('is refused as %s of %s in %s: %j', (fault, currency, locale, texts) => {
		for (const text of texts) expect(read(text, currency, locale), text).toBe(fault);
	});

	it.each(LOCALES)('has two readings in %s, each of which every page and file reads', (locale) => {
		for (const text of ['1.500', '1,500', 'KSh 2.345', '999.000']) {
			const readings = formatReadings(text, 'KES', locale);
			expect(readings).toHaveLength(2);
			for (const reading of readings) {
				const amounts = LOCALES.map((other) => read(reading, 'KES', other));
				const ofFile = readAmount(reading, 'KES', null);
				expect(new Set([...amounts, ofFile]).size, reading).toBe(1);
				expect(ofFile).toBeTypeOf('number');
			}
		}
	});

	it.each([
		['KES', ['1800,00', '1.500'], [180_000, 150_000]],
		['KES', ['1800.00', '1.500'], [180_000, 150]],
		['KES', ['500', '1,500'], [50_000, 'ambiguous']],
		['KES', ['0.50', '0,50', '1.500'], [50, 50, 'ambiguous']],
		['UGX', ['500.000'], ['ambiguous']],
		['UGX', ['500.000', '1500.000'], [500, 1500]],
		['UGX', ['500.000', '1.500'], [500_000, 1500]],
		['KES', ['1 800,00', '-50,00', 'KSh 5'], [180_000, -5000, 500]]
	])('of a file in %s is read with the decimal mark of all: %j', (currency, texts, amounts) => {
		expect(texts.map(createFileReader(texts, currency))).toEqual(amounts);
	});
});

it('answers at once about a long text of letters', () => {
	const started = performance.now();
	expect(readAmount('x'.repeat(64), 'UGX', null)).toBe('not_a_number');
	expect(performance.now() - started).toBeLessThan(1_000);
});
