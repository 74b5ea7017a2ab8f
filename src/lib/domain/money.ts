import { currentLocale } from '../i18n/current.ts';
import { numberText, separatorsOf, type Separators } from '../i18n/intl.ts';
import type { Locale } from '../i18n/locales.ts';
import { plainText } from './text.ts';

/**
 * Decimals by ISO 4217; Intl (CLDR) has fewer for some of these currencies. Money is an integer count of
 * minor units; floats exist only on the wire.
 */
const WITHOUT_DECIMALS = 'BIF GNF RWF UGX XAF XOF'.split(' ');
const TWO_DECIMALS = 'AOA CDF EUR GBP GHS KES MWK MZN NGN SSP SZL TZS USD ZAR ZMW'.split(' ');

export const CURRENCIES: readonly string[] = [...WITHOUT_DECIMALS, ...TWO_DECIMALS].sort();

/** The API's limit. */
export const MAX_AMOUNT_MINOR = 10 ** 12;

export function currencyExponent(currency: string): number {
	if (WITHOUT_DECIMALS.includes(currency)) return 0;
	if (TWO_DECIMALS.includes(currency)) return 2;
	throw new Error(`Unknown currency ${currency}`);
}

/** Converts major to minor units. Returns null if not positive, too precise or above MAX_AMOUNT_MINOR. */
export function toMinor(major: number, currency: string): number | null {
	const scaled = major * 10 ** currencyExponent(currency);
	const minor = Math.round(scaled);
	if (!Number.isFinite(scaled) || minor <= 0 || minor > MAX_AMOUNT_MINOR) return null;
	// Above about 10^8 the product is not exact to 1e-6, so the reverse conversion decides.
	const isExact = Math.abs(scaled - minor) <= 1e-6 || toMajor(minor, currency) === major;
	return isExact ? minor : null;
}

export function toMajor(minor: number, currency: string): number {
	const exponent = currencyExponent(currency);
	return exponent === 0 ? minor : Number((minor / 10 ** exponent).toFixed(exponent));
}

/** Returns the price in minor units, rounded half up, at least 1. Large prices times 30 days exceed 2^53. */
export function priceForSeconds(pricePerHourMinor: number, seconds: number): number {
	const minor = (BigInt(pricePerHourMinor) * BigInt(seconds) * 2n + 3600n) / 7200n;
	return Math.max(1, Number(minor));
}

/** The name that people write for a currency: its code, or FCFA for both francs. */
export const currencyName = (currency: string): string =>
	currency === 'XAF' || currency === 'XOF' ? 'FCFA' : currency;

/** Formats an amount with its currency first ("UGX 1,000"), as receipts in these markets do; omits zero decimals. */
export function formatMoney(major: number, currency: string, locale?: Locale): string {
	return `${currencyName(currency)}\u00a0${formatNumber(major, currency, locale)}`;
}

export const formatMinor = (minor: number, currency: string, locale?: Locale): string =>
	formatMoney(toMajor(minor, currency), currency, locale);

function formatNumber(
	major: number,
	currency: string,
	locale?: Locale,
	options: Intl.NumberFormatOptions = {}
): string {
	const digits = Number.isInteger(major) ? 0 : currencyExponent(currency);
	const decimals = { minimumFractionDigits: digits, maximumFractionDigits: digits };
	return numberText(major, { ...decimals, ...options }, locale);
}

/** Why a text is no amount. `ambiguous`: it has two readings, such as 1.500. */
export type AmountFault = 'not_a_number' | 'ambiguous' | 'too_fine' | 'too_large' | 'other_currency';

/**
 * Reads an amount as people and programs write it: "1,500", "1 500,00", "KSh 1'500.50", "500/=", "-20", "١٠٠".
 * @param separators of the page on which it was typed: what the page shows, it reads. null if nothing tells
 * @returns minor units, negative or 0 too, or why the text has not exactly one reading. Describe a fault of a page with
 * a message, others with `formatFault`
 */
export function readAmount(
	text: string,
	currency: string,
	separators: Separators | null = separatorsOf()
): number | AmountFault {
	const typed = splitAmount(text, currency);
	if (typeof typed === 'string') return typed;
	const [point, comma] = [numberWith('.', typed.number), numberWith(',', typed.number)];
	const number = point && comma ? chooseReading(point, comma, currency, separators) : (point ?? comma);
	if (number === 'ambiguous') return number;
	if (number === null || looksCutOff(number, currency, separators)) return 'not_a_number';
	return toSignedMinor(number, typed.isNegative, currency);
}

/** Reads an amount with a known decimal mark: "1.500" with a point is 1.5. */
export function readAmountWith(
	decimal: DecimalMark,
	text: string,
	currency: string
): number | Exclude<AmountFault, 'ambiguous'> {
	const typed = splitAmount(text, currency);
	if (typeof typed === 'string') return typed;
	const number = numberWith(decimal, typed.number);
	return number === null ? 'not_a_number' : toSignedMinor(number, typed.isNegative, currency);
}

/**
 * Returns a reader for the amounts of one file. If all of them fit one decimal mark only, that is the file's; otherwise
 * each is read alone, so an ambiguous one is refused.
 */
export function createFileReader(
	texts: readonly string[],
	currency: string
): (text: string) => number | AmountFault {
	const readings = (['.', ','] as const).flatMap((decimal) => {
		const amounts = texts.map((text) => readAmountWith(decimal, text, currency));
		return amounts.every((amount) => typeof amount === 'number') ? [{ decimal, amounts }] : [];
	});
	const [first, second] = readings;
	const isClear =
		first && (!second || first.amounts.every((amount, index) => amount === second.amounts[index]));
	return isClear
		? (text) => readAmountWith(first.decimal, text, currency)
		: (text) => readAmount(text, currency, null);
}

/** Formats the two readings of an ambiguous text so that every page and file reads them: "1500" and "1.50". */
export function formatReadings(text: string, currency: string, locale: Locale = currentLocale()): string[] {
	const typed = splitAmount(text, currency);
	if (typeof typed === 'string') return [];
	return (['.', ','] as const)
		.flatMap((decimal) => numberWith(decimal, typed.number) ?? [])
		.map(({ whole, fraction }) => Number(`${whole}.${fraction}`))
		.sort((one, other) => other - one)
		.map((major) => formatNumber(major, currency, locale, { useGrouping: false }));
}

/** Says in English why a text is no amount, as the end of a sentence that begins with the text. */
export function formatFault(fault: AmountFault, text: string, currency: string): string {
	switch (fault) {
		case 'not_a_number':
			return `is not an amount; write it like ${formatNumber(1500, currency, 'en')}`;
		case 'ambiguous':
			return `can mean ${formatReadings(text, currency, 'en').join(' or ')}; write one of these`;
		case 'too_fine':
			return `has more decimals than ${currency}, which has ${currencyExponent(currency) || 'none'}`;
		case 'too_large':
			return 'is too large';
		case 'other_currency':
			return `is not in ${currency}`;
	}
}

type DecimalMark = '.' | ',';

interface TypedNumber {
	/** Digits. */
	whole: string;
	/** Digits; '' without a decimal mark. */
	fraction: string;
	/** Between groups of digits; '' without any. */
	group: string;
	decimal: DecimalMark;
}

/** What people write beside a number, beside the code: lower case, without spaces and dots. */
const CURRENCY_WORDS: Readonly<Record<string, string>> = {
	AOA: 'kz kwanza kwanzas',
	BIF: 'fbu f franc francs amafaranga',
	CDF: 'fc f franc francs',
	EUR: '€ euro euros',
	GBP: '£ pound pounds',
	GHS: 'gh₵ gh¢ ₵ ¢ gh ghc cedi cedis',
	GNF: 'fg f franc francs',
	KES: 'ksh kshs sh shs shilling shillings shilingi bob',
	MWK: 'k mk kwacha',
	MZN: 'mt mtn metical meticais',
	NGN: '₦ n naira',
	RWF: 'rf frw f franc francs amafaranga',
	SSP: '£ pound pounds',
	SZL: 'e l lilangeni emalangeni',
	TZS: 'tsh tshs sh shs shilling shillings shilingi',
	UGX: 'ush ushs sh shs shilling shillings shilingi',
	USD: '$ us$ dollar dollars',
	XAF: 'fcfa cfa f franc francs',
	XOF: 'fcfa cfa f franc francs',
	ZAR: 'r rand',
	ZMW: 'k zk kwacha'
};

const MAX_AMOUNT_CHARACTERS = 64;

/** What divides words is needed: if letters alone could, a text of 60 letters would be tried in 2^60 ways. */
const WORD = String.raw`[\p{L}\p{M}\p{Sc}]+(?:(?:\. ?| )[\p{L}\p{M}\p{Sc}]+)*\.?`;
/** [sign, words, sign] number [East African "/=" and "/-", words, sign] */
const AMOUNT = new RegExp(
	String.raw`^([-+]?) ?(${WORD})? ?([-+]?) ?(\d(?:[\d., '٫]*\d)?) ?(?:\/ ?[=-]|=)? ?(${WORD})? ?(-?)$`,
	'u'
);

/** Separates the number from its sign and the words of the currency. */
function splitAmount(
	text: string,
	currency: string
): { number: string; isNegative: boolean } | 'not_a_number' | 'other_currency' {
	if (text.length > MAX_AMOUNT_CHARACTERS) return 'not_a_number';
	const plain = plainText(text)
		.replace(/[\u2010-\u2015\u2212]/g, '-')
		// Apostrophes, and the Arabic separator of thousands, only group digits.
		.replace(/[\u2018\u2019\u02bc\u066c]/g, "'")
		.replace(/\u060c/g, ',');
	const inBrackets = /^\((.*)\)$/.exec(plain);
	const [isNumber, first, before = '', second, number = '', after = '', last] =
		AMOUNT.exec(inBrackets?.[1]?.trim() ?? plain) ?? [];
	if (isNumber === undefined) return 'not_a_number';
	const signs = [inBrackets ? '-' : '', first, second, last].filter(Boolean);
	if (signs.length > 1) return 'not_a_number';
	const known = [currency.toLowerCase(), ...(CURRENCY_WORDS[currency] ?? '').split(' ')];
	const isOurs = (word: string) => word === '' || known.includes(word.replace(/[. ]/g, '').toLowerCase());
	if (!isOurs(before) || !isOurs(after)) return 'other_currency';
	return { number, isNegative: signs[0] === '-' };
}

/**
 * Reads digits whose decimal mark is known; the other mark, spaces and apostrophes may group them, by three or as in India.
 * Returns null for digits that are written in another way.
 */
function numberWith(decimal: DecimalMark, text: string): TypedNumber | null {
	const other = decimal === '.' ? ',' : '.';
	const parts = text.replace('٫', decimal).split(decimal);
	const [digits = '', fraction = ''] = parts;
	const [group = ''] = digits.replace(/\d/g, '');
	const isFraction = parts.length < 2 || /^\d+$/.test(fraction);
	if (parts.length > 2 || !isFraction) return null;
	if (group === '') return /^\d{1,15}$/.test(digits) ? { whole: digits, fraction, group, decimal } : null;
	if (![other, ' ', "'"].includes(group)) return null;
	const groups = digits.split(group);
	const isGrouped =
		/^[1-9]\d{0,2}$/.test(groups[0] ?? '') &&
		/^\d{3}$/.test(groups.at(-1) ?? '') &&
		groups.length <= 6 &&
		[3, 2].some((length) => groups.slice(1, -1).every((one) => /^\d+$/.test(one) && one.length === length));
	return isGrouped ? { whole: groups.join(''), fraction, group, decimal } : null;
}

/** Digits in groups of three are grouped if the page groups so, or if the currency has no decimals, not even ".000". */
function chooseReading(
	point: TypedNumber,
	comma: TypedNumber,
	currency: string,
	separators: Separators | null
): TypedNumber | 'ambiguous' {
	const [grouped, other] = point.group === '' ? [comma, point] : [point, comma];
	if (grouped.group === other.group) return point;
	if (grouped.group === separators?.group) return grouped;
	const isWhole = currencyExponent(currency) === 0 && (separators !== null || !isZero(other.fraction));
	return isWhole ? grouped : 'ambiguous';
}

/** "1,00" shillings on a page that writes 1,000: probably a digit is missing. */
const looksCutOff = (number: TypedNumber, currency: string, separators: Separators | null): boolean =>
	isZero(number.fraction) &&
	number.group === '' &&
	currencyExponent(currency) === 0 &&
	separators !== null &&
	number.decimal !== separators.decimal;

const isZero = (digits: string) => /^0+$/.test(digits);

function toSignedMinor({ whole, fraction }: TypedNumber, isNegative: boolean, currency: string) {
	const exponent = currencyExponent(currency);
	const decimals = fraction.replace(/0+$/, '');
	if (decimals.length > exponent) return 'too_fine';
	const minor = Number(whole) * 10 ** exponent + Number(decimals.padEnd(exponent, '0'));
	if (minor > MAX_AMOUNT_MINOR) return 'too_large';
	return isNegative && minor > 0 ? -minor : minor;
}
