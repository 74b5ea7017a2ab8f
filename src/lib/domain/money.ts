import { currentLocale } from '../i18n/current.ts';
import { numberText } from '../i18n/intl.ts';
import type { Locale } from '../i18n/locales.ts';

/**
 * Money is an integer count of minor units (cents, or whole shillings where the currency has none) beside its
 * ISO 4217 currency; floats exist only on the wire. The exponents stand here because the digits that Intl shows
 * (CLDR) are those of daily use, which for some of these currencies are fewer than ISO 4217's.
 */
const EXPONENTS: ReadonlyMap<string, number> = new Map(
	Object.entries({
		BIF: 0,
		CDF: 2,
		EUR: 2,
		GBP: 2,
		GHS: 2,
		GNF: 0,
		KES: 2,
		MWK: 2,
		NGN: 2,
		RWF: 0,
		TZS: 2,
		UGX: 0,
		USD: 2,
		XAF: 0,
		XOF: 0,
		ZAR: 2,
		ZMW: 2
	})
);

/** Largest amount the wire accepts, in minor units. */
export const MAX_AMOUNT_MINOR = 10 ** 12;

/** ISO 4217 codes that Airtill can count in. */
export const CURRENCIES: readonly string[] = [...EXPONENTS.keys()];

/**
 * Number of decimals of a currency after ISO 4217.
 * @throws Error for a currency that is not in the table: guessing would move a decimal point.
 */
export function currencyExponent(currency: string): number {
	const exponent = EXPONENTS.get(currency);
	if (exponent === undefined) throw new Error(`Unknown currency ${currency}`);
	return exponent;
}

/**
 * Major units from the wire to minor units.
 * @returns null when the number is not positive, has more decimals than the currency, or is too large.
 */
export function toMinor(major: number, currency: string): number | null {
	const scaled = major * 10 ** currencyExponent(currency);
	const minor = Math.round(scaled);
	if (!Number.isFinite(scaled) || minor <= 0 || minor > MAX_AMOUNT_MINOR) return null;
	// From about 10^8 on a product is no longer exact to 1e-6; there the way back decides.
	const isExact = Math.abs(scaled - minor) <= 1e-6 || toMajor(minor, currency) === major;
	return isExact ? minor : null;
}

/** Minor units to the wire's number in major units. */
export function toMajor(minor: number, currency: string): number {
	const exponent = currencyExponent(currency);
	return exponent === 0 ? minor : Number((minor / 10 ** exponent).toFixed(exponent));
}

/**
 * Price of a duration: `price per hour x seconds / 3600`, rounded half up, at least one minor unit.
 * In BigInt because the product of a large price and thirty days passes 2^53.
 */
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
