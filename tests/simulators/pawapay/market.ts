/**
 * The networks of pawaPay's sandbox, as far as they are played here (docs.pawapay.io/v2/docs/providers and
 * /test_numbers). Limits are the account's; decimals are the provider's. First digits are only good for predictions.
 */
import type { Script } from '../script.ts';

interface Country {
	code: string;
	name: string;
	/** Country code of numbers. */
	prefix: string;
	/** Digits after it. */
	lengths: readonly number[];
}

export interface Wallet {
	currency: string;
	decimals: 'NONE' | 'TWO_PLACES';
	min: number;
	max: number;
}

export interface Network {
	provider: string;
	name: string;
	country: Country;
	authType: 'PROVIDER_AUTH' | 'PREAUTH';
	wallets: readonly Wallet[];
	/** First digits of national numbers. */
	numbers: RegExp;
}

const country = (code: string, name: string, prefix: string, ...lengths: number[]): Country => ({
	code,
	name,
	prefix,
	lengths
});

const BEN = country('BEN', 'Benin', '229', 8, 10);
const BFA = country('BFA', 'Burkina Faso', '226', 8);
const CIV = country('CIV', "Côte d'Ivoire", '225', 10);
const CMR = country('CMR', 'Cameroon', '237', 9);
const COD = country('COD', 'Democratic Republic of the Congo', '243', 9);
const GHA = country('GHA', 'Ghana', '233', 9);
const KEN = country('KEN', 'Kenya', '254', 9);
const MWI = country('MWI', 'Malawi', '265', 9);
const RWA = country('RWA', 'Rwanda', '250', 9);
const TZA = country('TZA', 'Tanzania', '255', 9);
const UGA = country('UGA', 'Uganda', '256', 9);
const ZMB = country('ZMB', 'Zambia', '260', 9);

const whole = (currency: string, min = 1, max = 2_000_000): Wallet => ({
	currency,
	decimals: 'NONE',
	min,
	max
});
const withCents = (currency: string, min = 1, max = 50_000): Wallet => ({
	currency,
	decimals: 'TWO_PLACES',
	min,
	max
});

function network(
	provider: string,
	name: string,
	home: Country,
	numbers: RegExp,
	wallets: readonly Wallet[],
	authType: Network['authType'] = 'PROVIDER_AUTH'
): Network {
	return { provider, name, country: home, numbers, wallets, authType };
}

export const NETWORKS: readonly Network[] = [
	network('MTN_MOMO_BEN', 'MTN', BEN, /^(01)?(42|46|5[0-46-79]|6[1267]|69|9[0167])/, [whole('XOF')]),
	network('MOOV_BEN', 'Moov', BEN, /^(01)?(45|55|58|6[03458]|9[4589])/, [whole('XOF')]),
	network('MOOV_BFA', 'Moov', BFA, /^(0[1-3]|5[0-3]|6[0-3]|7[0-3])/, [whole('XOF')]),
	network('ORANGE_BFA', 'Orange', BFA, /^(0[4-7]|5[4-7]|6[4-7]|7[4-7])/, [whole('XOF')], 'PREAUTH'),
	network('MTN_MOMO_CIV', 'MTN', CIV, /^05/, [whole('XOF')]),
	network('ORANGE_CIV', 'Orange', CIV, /^07/, [whole('XOF')]),
	network('MTN_MOMO_CMR', 'MTN', CMR, /^6(7|5[0-4]|8)/, [whole('XAF')]),
	network('ORANGE_CMR', 'Orange', CMR, /^6(9|5[5-9])/, [whole('XAF')]),
	network('VODACOM_MPESA_COD', 'Vodacom', COD, /^8[123]/, [whole('CDF'), withCents('USD')]),
	network('AIRTEL_COD', 'Airtel', COD, /^9[789]/, [withCents('CDF', 1, 5_000_000), withCents('USD')]),
	network('ORANGE_COD', 'Orange', COD, /^8[0459]/, [withCents('CDF', 1, 5_000_000), withCents('USD')]),
	network('MTN_MOMO_GHA', 'MTN', GHA, /^(24|25|5[3459])/, [withCents('GHS')]),
	network('AIRTELTIGO_GHA', 'AT', GHA, /^(2[67]|5[67])/, [withCents('GHS')]),
	network('MPESA_KEN', 'M-Pesa', KEN, /^(7|1)/, [whole('KES', 1, 250_000)]),
	network('AIRTEL_MWI', 'Airtel', MWI, /^9/, [withCents('MWK', 1, 750_000)]),
	network('TNM_MWI', 'TNM', MWI, /^8/, [withCents('MWK', 1, 750_000)]),
	network('MTN_MOMO_RWA', 'MTN', RWA, /^7[89]/, [whole('RWF', 100)]),
	network('AIRTEL_RWA', 'Airtel', RWA, /^7[23]/, [whole('RWF', 100)]),
	network('VODACOM_TZA', 'Vodacom', TZA, /^7[456]/, [whole('TZS', 100)]),
	network('AIRTEL_TZA', 'Airtel', TZA, /^(6[89]|78)/, [whole('TZS', 100)]),
	network('MTN_MOMO_UGA', 'MTN', UGA, /^(7[678]|3[19])/, [whole('UGX', 100, 5_000_000)]),
	network('AIRTEL_OAPI_UGA', 'Airtel', UGA, /^(7[045]|20)/, [whole('UGX', 100, 5_000_000)]),
	network('MTN_MOMO_ZMB', 'MTN', ZMB, /^[79]6/, [withCents('ZMW')]),
	network('AIRTEL_OAPI_ZMB', 'Airtel', ZMB, /^[795]7/, [withCents('ZMW')]),
	network('ZAMTEL_ZMB', 'Zamtel', ZMB, /^[795]5/, [withCents('ZMW')])
];

export const isNumberOf = (home: Country, phone: string): boolean =>
	phone.startsWith(home.prefix) && home.lengths.includes(phone.length - home.prefix.length);

export const predict = (phone: string): Network | undefined =>
	NETWORKS.find(
		({ country: home, numbers }) => isNumberOf(home, phone) && numbers.test(phone.slice(home.prefix.length))
	);

/** Outcomes by the last three digits of a test number. */
const OUTCOMES: Readonly<Record<string, string>> = {
	'789': 'success',
	'019': 'PAYER_LIMIT_REACHED',
	'029': 'PAYER_NOT_FOUND',
	'039': 'PAYMENT_NOT_APPROVED',
	'049': 'INSUFFICIENT_BALANCE',
	'069': 'UNSPECIFIED_FAILURE',
	'129': 'pending'
};

/** Burkina Faso counts differently. */
const OUTCOMES_BFA: Readonly<Record<string, string>> = {
	'678': 'success',
	'048': 'INSUFFICIENT_BALANCE',
	'068': 'UNSPECIFIED_FAILURE',
	'138': 'pending'
};

/** Test numbers without their last three digits. */
const BASES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
	'250783456': OUTCOMES,
	'250733456': OUTCOMES,
	'260973456': OUTCOMES,
	'260763456': OUTCOMES,
	'237653456': OUTCOMES,
	'2250503456': OUTCOMES,
	'22951345': OUTCOMES,
	'2290151345': OUTCOMES,
	'243813456': OUTCOMES,
	'243973456': OUTCOMES,
	'243893456': OUTCOMES,
	'256783456': OUTCOMES,
	'256753456': OUTCOMES,
	'254703456': OUTCOMES,
	'265993456': OUTCOMES,
	'265883456': OUTCOMES,
	'22602345': OUTCOMES_BFA
};

/** Outcomes of test numbers; any other number pays. */
export function testNumber(phone: string): Partial<Script> {
	const outcome = BASES[phone.slice(0, -3)]?.[phone.slice(-3)];
	if (outcome === undefined) return {};
	return outcome === 'pending' ? { outcome, callbacks: [] } : { outcome };
}
