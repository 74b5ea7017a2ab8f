import { parsePhoneNumberFromString, type CountryCode } from 'libphonenumber-js/mobile';

/**
 * A mobile number in E.164 from what a person typed: `+256 772 123456`, `0772 123456` and `256772123456` are
 * the same number. Only mobile numbers pass (the metadata knows nothing else), because only those can pay.
 * @param text what was typed; spaces, dashes, dots and brackets are fine
 * @param region ISO 3166 country for numbers without a country code
 * @returns E.164, or null when it is not a valid mobile number
 */
export function parseMobile(text: string, region: string): string | null {
	if (text.length > 32) return null;
	for (const candidate of [text, `+${text.trim()}`]) {
		const number = parsePhoneNumberFromString(candidate, {
			defaultCountry: region as CountryCode,
			extract: false
		});
		if (number?.isValid() && !number.ext) return number.number;
	}
	return null;
}

/** `+256*****3456`: country code and last four digits, for people who may not see the whole number. */
export function maskPhone(e164: string): string {
	const number = parsePhoneNumberFromString(e164);
	const country = number ? `+${number.countryCallingCode}` : e164.slice(0, 2);
	return `${country}*****${e164.slice(-4)}`;
}

/** `0772 123456`, as people in that country write it; E.164 when it cannot be told. */
export function formatMobile(e164: string): string {
	return parsePhoneNumberFromString(e164)?.formatNational() ?? e164;
}
