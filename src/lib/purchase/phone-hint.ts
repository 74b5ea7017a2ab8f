import {
	type CountryCode,
	getCountryCallingCode,
	getExampleNumber,
	parsePhoneNumberFromString
} from 'libphonenumber-js/mobile';
import { intlLocales } from '../i18n/intl.ts';
import examples from 'libphonenumber-js/mobile/examples';

/** Examples for the number field, from the server: the number metadata has 29 KB. */
export interface PhoneHint {
	country: string;
	/** "+256" */
	prefix: string;
	/** "0712 345678" */
	example: string;
	/** The example with the last digits of a test number: "0712 345001". */
	testExample: string;
}

/** @param region ISO 3166 country of numbers that are typed without a country code */
export function makePhoneHint(region: string): PhoneHint {
	const code = region as CountryCode;
	const example = getExampleNumber(code, examples);
	const test = example && parsePhoneNumberFromString(`${example.number.slice(0, -3)}001`);
	return {
		country: countryName(region),
		prefix: `+${getCountryCallingCode(code)}`,
		example: example?.formatNational() ?? '',
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
