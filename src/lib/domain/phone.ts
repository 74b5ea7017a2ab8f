import { parsePhoneNumberFromString, type CountryCode } from 'libphonenumber-js/mobile';

/**
 * Parses a typed mobile number: `+256 772 123456`, `0772 123456` and `256772123456` are the same. Rejects
 * other numbers, because only mobile numbers can pay.
 * @param region ISO 3166 country of numbers without a country code
 * @returns E.164, or null if it is not a valid mobile number
 */
export function parseMobile(text: string, region: string): string | null {
	if (text.length > 32) return null;
	// Contact lists and right-to-left pages put invisible marks around a number.
	const visible = text.replace(/\p{Cf}/gu, '').trim();
	for (const candidate of [visible, `+${visible}`]) {
		const number = parsePhoneNumberFromString(candidate, {
			defaultCountry: region as CountryCode,
			extract: false
		});
		if (number?.isValid() && !number.ext) return number.number;
	}
	return null;
}

/** Replaces a deleted number. No country has the code 999. Migrations 0043 and 0047 have it too. */
export const DELETED_NUMBER = '+9990000000';

/** Hides the middle of a number: `+256*****3456`. */
export function maskPhone(e164: string): string {
	const number = parsePhoneNumberFromString(e164);
	const country = number ? `+${number.countryCallingCode}` : e164.slice(0, 2);
	return `${country}*****${e164.slice(-4)}`;
}

/** Formats a number as in its country: `0772 123456`. Returns E.164 if the country is unknown. */
export const formatMobile = (e164: string): string =>
	parsePhoneNumberFromString(e164)?.formatNational() ?? e164;
