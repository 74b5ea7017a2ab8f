import {
	type CountryCode,
	getCountryCallingCode,
	getExampleNumber,
	parsePhoneNumberFromString
} from 'libphonenumber-js/mobile';
import examples from 'libphonenumber-js/mobile/examples';
import { apart, intlLocales } from '../i18n/intl.ts';
import { plainNumber } from './text.ts';

const MAX_NUMBER_CHARACTERS = 48;

/**
 * Parses a mobile number as people, contact lists and links write it: `+256 772 123456`, `0772 123456`, `256772123456`,
 * `00256772123456`, `+256 (0) 772 123456` and `tel:+256772123456` are the same, in digits of any script. Rejects other
 * numbers, because only mobile numbers can pay.
 * @param region ISO 3166 country of numbers without a country code
 * @returns E.164, or null if it is not a valid mobile number
 */
export function parseMobile(text: string, region: string): string | null {
	if (text.length > MAX_NUMBER_CHARACTERS) return null;
	const plain = plainNumber(text);
	// Many countries dial another prefix, such as 000 or 009, which the library reads, but phones store 00.
	const abroad = plain.replace(/^\(?\+? ?0 ?0\)? ?|^\(\+/, '+');
	// No country's code begins with 0.
	const atHome = plain.replace(/^\+ ?0/, '0');
	const candidates = [plain, `+${plain}`, abroad, atHome];
	for (const candidate of candidates) {
		const number = parsePhoneNumberFromString(candidate, {
			defaultCountry: region as CountryCode,
			extract: false
		});
		if (number?.isValid() && !number.ext) return number.number;
	}
	return null;
}

/** Reads a whole number or its end, for a search: its digits without prefixes for calls abroad. '' for other texts. */
export function searchedDigits(text: string): string {
	const plain = plainNumber(text);
	return /^\+?[\d ().-]+$/.test(plain) ? plain.replace(/\(0\)|[^\d]/g, '') : '';
}

/** Replaces a deleted number. No country has the code 999. */
export const DELETED_NUMBER = '+9990000000';

/** Hides the middle of a number: `+256*****3456`. */
export function maskPhone(e164: string): string {
	const number = parsePhoneNumberFromString(e164);
	const country = number ? `+${number.countryCallingCode}` : e164.slice(0, 2);
	return `${country}*****${e164.slice(-4)}`;
}

let homeRegion = '';

/** Sets the country whose numbers are shown without their code. The server calls it once at start. */
export function setHomeRegion(region: string): void {
	homeRegion = region;
}

/**
 * Formats a number so that `parseMobile` reads it back: `0772 123456` at home, otherwise `+254 712 345678`, because its
 * national form may be somebody else's number here. Returns E.164 if the country is unknown.
 */
export function formatMobile(e164: string): string {
	const number = parsePhoneNumberFromString(e164);
	if (!number) return e164;
	return number.country === homeRegion ? number.formatNational() : number.formatInternational();
}

/** Formats a number for the field of a form: '' if it is deleted, or there was none. */
export const numberInField = (e164: string): string => (e164 === DELETED_NUMBER ? '' : formatMobile(e164));

/** "0772 ••• 456", "+254 712 ••• 678": the buyer recognises a formatted number, an onlooker does not learn it. */
export function hideMiddle(formatted: string): string {
	const [, code = '', national = ''] = /^(\+\d+ )?(.*)$/.exec(formatted) ?? [];
	const digits = national.replace(/\D/g, '');
	const start = code.replace(' ', '\u00a0') + digits.slice(0, code === '' ? 4 : 3);
	return apart(`${start}\u00a0•••\u00a0${digits.slice(-3)}`);
}

/** Examples for the number field, from the server: the number metadata has 29 KB. */
export interface PhoneHint {
	country: string;
	/** "+256" */
	prefix: string;
	/** "0712 345678" */
	example: string;
	/** The example as it follows the prefix: "712 345678". */
	bare: string;
	/** The example with the last digits of a test number: "0712 345001". */
	testExample: string;
}

/** @param region ISO 3166 country of numbers that are typed without a country code */
export function makePhoneHint(region: string): PhoneHint {
	const code = region as CountryCode;
	const example = getExampleNumber(code, examples);
	const test = example && parsePhoneNumberFromString(`${example.number.slice(0, -3)}001`);
	const prefix = `+${getCountryCallingCode(code)}`;
	return {
		country: countryName(region),
		prefix,
		example: example?.formatNational() ?? '',
		bare: example?.formatInternational().slice(prefix.length + 1) ?? '',
		testExample: test ? test.formatNational() : ''
	};
}

/** Names a country in the current language, or in English if Intl has no name for it, as in Kinyarwanda. */
function countryName(region: string): string {
	for (const locales of [intlLocales(), ['en']]) {
		const name = new Intl.DisplayNames(locales, { type: 'region', fallback: 'none' }).of(region);
		if (name) return name;
	}
	return region;
}
