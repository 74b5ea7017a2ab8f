import { CURRENCIES, currencyExponent, formatMoney, toMajor, toMinor } from '#lib/domain/money.ts';
import type { ProviderRules } from './configuration.ts';

/** pawaPay's amounts: major units without leading zeros, with two decimals or none (reference section 5). */

/** Currencies with decimals in ISO 4217, but not in mobile money. */
const WHOLE_ONLY = ['TZS'];

/** Used until the provider's configuration is known. */
export const usualDecimals = (currency: string): 0 | 2 =>
	currencyExponent(currency) === 0 || WHOLE_ONLY.includes(currency) ? 0 : 2;

/** Returns null for a fraction if the provider accepts none. */
export function wireAmount(amountMinor: number, currency: string, decimals: 0 | 2): string | null {
	const major = toMajor(amountMinor, currency);
	if (Number.isInteger(major)) return String(major);
	return decimals === 0 ? null : major.toFixed(2);
}

/** Parses an amount into minor units. */
export function amountOf(text: string | null, currency: string | null): number | null {
	if (text === null || !/^\d{1,15}(\.\d{1,6})?$/.test(text)) return null;
	if (currency === null || !CURRENCIES.includes(currency)) return null;
	// Round up a fraction that the currency does not have: the amount then differs from the one requested.
	return toMinor(Number(text), currency) ?? Math.ceil(Number(text) * 10 ** currencyExponent(currency));
}

/** Returns why a provider does not take an amount, as sentences. */
export function amountProblems(
	amountMinor: number,
	currency: string,
	rules: ProviderRules | null | undefined
): string[] {
	const problems: string[] = [];
	const amount = wireAmount(amountMinor, currency, rules?.decimals ?? usualDecimals(currency));
	if (amount === null) problems.push(`The network takes whole amounts of ${currency} only.`);
	const major = Number(wireAmount(amountMinor, currency, 2));
	if (typeof rules?.min === 'number' && major < rules.min) {
		problems.push(`The network takes ${formatMoney(rules.min, currency, 'en')} or more.`);
	}
	if (typeof rules?.max === 'number' && major > rules.max) {
		problems.push(`The network takes ${formatMoney(rules.max, currency, 'en')} at most.`);
	}
	return problems;
}
