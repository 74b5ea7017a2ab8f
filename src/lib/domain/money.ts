import { currentLocale } from '../i18n/current.ts';
import { numberText } from '../i18n/intl.ts';
import type { Locale } from '../i18n/locales.ts';

/**
 * Decimals by ISO 4217; Intl (CLDR) has fewer for some of these currencies. Money is an integer count of
 * minor units; floats exist only on the wire.
 */
const WITHOUT_DECIMALS = 'BIF GNF RWF UGX XAF XOF'.split(' ');
const TWO_DECIMALS = 'CDF EUR GBP GHS KES MWK NGN SSP SZL TZS USD ZAR ZMW'.split(' ');

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

/** Parses a typed amount: "500", "1,500", "1 500", "12.50". Returns null for ambiguous text such as "1,5". */
export function parseAmount(text: string): number | null {
	const bare = text.trim().replace(/[\u00a0\u202f ]/g, '');
	const digits = /^\d{1,3}(,\d{3})+(\.\d+)?$/.test(bare) ? bare.replaceAll(',', '') : bare;
	return /^\d{1,12}(\.\d{1,6})?$/.test(digits) ? Number(digits) : null;
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

/** Formats an amount with its code first ("UGX 1,000"), as receipts in these markets do; omits zero decimals. */
export function formatMoney(major: number, currency: string, locale: Locale = currentLocale()): string {
	const exponent = currencyExponent(currency);
	const digits = Number.isInteger(major) ? 0 : exponent;
	const decimals = { minimumFractionDigits: digits, maximumFractionDigits: digits };
	const number = numberText(major, decimals, locale);
	return `${currency}\u00a0${number}`;
}

export const formatMinor = (minor: number, currency: string, locale?: Locale): string =>
	formatMoney(toMajor(minor, currency), currency, locale);
