import { CURRENCIES, currencyExponent, toMajor, toMinor } from '#lib/domain/money.ts';

/**
 * Amounts of pawaPay (reference section 5): texts in major units without leading zeros, with two decimals or none as
 * the provider takes them.
 */

/** Currencies that have decimals after ISO 4217, but none with mobile money. */
const WHOLE_ONLY = ['TZS'];

/** What a provider is taken to want until its configuration is known. */
export const usualDecimals = (currency: string): 0 | 2 =>
	currencyExponent(currency) === 0 || WHOLE_ONLY.includes(currency) ? 0 : 2;

/** @returns null when the amount has a fraction and the provider takes none */
export function wireAmount(amountMinor: number, currency: string, decimals: 0 | 2): string | null {
	const major = toMajor(amountMinor, currency);
	if (Number.isInteger(major)) return String(major);
	return decimals === 0 ? null : major.toFixed(2);
}

/** Minor units of an amount in an answer; null when there is none. */
export function amountOf(text: string | null, currency: string | null): number | null {
	if (text === null || !/^\d{1,15}(\.\d{1,6})?$/.test(text)) return null;
	if (currency === null || !CURRENCIES.includes(currency)) return null;
	// A fraction that the currency does not have is not what we asked for: rounded up, it differs.
	return toMinor(Number(text), currency) ?? Math.ceil(Number(text) * 10 ** currencyExponent(currency));
}
