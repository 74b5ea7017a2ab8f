import { z } from 'zod';
import type { Setting } from '#lib/server/config/setting.ts';
import {
	baseUrl,
	checkAddress,
	countryCode,
	credential,
	onOff,
	type Installation,
	type ValuesOf
} from '../definition.ts';

const version = z.enum(['v1', 'v2'], 'Use "v1" or "v2".');
const amount = z
	.string()
	.regex(/^\d{1,10}(\.\d{1,2})?$/, 'Use an amount such as "100".')
	.transform(Number)
	.optional();

export const SETTINGS = {
	AIRTEL_BASE_URL: {
		schema: baseUrl,
		description:
			'Address of the API of your market, e.g. `https://openapi.airtel.ug`; Airtel’s test system is `https://openapiuat.airtel.ug`.'
	},
	AIRTEL_COUNTRY: {
		schema: countryCode,
		description: 'ISO 3166 country of the merchant account, e.g. `UG`. Only its numbers can pay.'
	},
	AIRTEL_CURRENCY: {
		schema: z.string().regex(/^[A-Z]{3}$/, 'Use an ISO 4217 code such as "UGX".'),
		description: 'ISO 4217 currency of the merchant account; the same as `CURRENCY`.'
	},
	AIRTEL_CLIENT_ID: {
		schema: credential,
		description: 'Client id of the application in Airtel’s portal.'
	},
	AIRTEL_CLIENT_SECRET: {
		schema: credential,
		description: 'Its client secret.'
	},
	AIRTEL_API_VERSION: {
		schema: version,
		default: 'v1',
		description: '`v2` where the market’s portal shows `/merchant/v2/payments/`.'
	},
	AIRTEL_REFUND_VERSION: {
		schema: version,
		default: 'v1',
		description: '`v2` where the portal shows `/standard/v2/payments/refund`.'
	},
	AIRTEL_MESSAGE_SIGNING: {
		schema: onOff,
		default: 'off',
		description: '`on` where the application has message signing (`x-signature`), as in Zambia.'
	},
	AIRTEL_ID_FORMAT: {
		schema: z.enum(['uuid', 'short'], 'Use "uuid" or "short".'),
		default: 'uuid',
		description:
			'How our reference is written as `transaction.id`: `uuid`, or `short` (25 letters and digits) where Airtel refuses dashes or long ids. Change it only while no payment is open.'
	},
	AIRTEL_LEADING_ZERO: {
		schema: onOff,
		default: 'off',
		description: '`on` where numbers are sent with the leading 0 (error `ESB000036` otherwise), as in Gabon.'
	},
	AIRTEL_DECIMALS: {
		schema: z.enum(['0', '2'], 'Use "0" or "2".').transform(Number),
		default: '2',
		description: 'Decimals that the market takes in an amount; `0` refuses prices with cents.'
	},
	AIRTEL_MIN_AMOUNT: {
		schema: amount,
		description:
			'Smallest payment that Airtel takes, e.g. `100`. Without it Airtel itself refuses smaller ones.'
	},
	AIRTEL_MAX_AMOUNT: {
		schema: amount,
		description: 'Largest payment that Airtel takes.'
	},
	AIRTEL_CALLBACK_KEY: {
		schema: credential.optional(),
		description:
			'Private key of callback authentication in Airtel’s portal. With it, callbacks without the right hash change nothing.'
	}
} as const satisfies Record<string, Setting>;

export type AirtelValues = ValuesOf<typeof SETTINGS>;

const HOSTS = { real: /^openapi\.airtel\./, test: /^openapiuat\.airtel\./ };

export function checkSettings(values: AirtelValues, installation: Installation) {
	const { AIRTEL_CURRENCY: taken, AIRTEL_MIN_AMOUNT: min = 0, AIRTEL_MAX_AMOUNT: max = Infinity } = values;
	const { currency } = installation;
	return [
		taken !== currency && `AIRTEL_CURRENCY: is ${taken}, but CURRENCY is ${currency}.`,
		min > max && 'AIRTEL_MIN_AMOUNT: is more than AIRTEL_MAX_AMOUNT.',
		...checkAddress('AIRTEL_BASE_URL', values.AIRTEL_BASE_URL, installation, HOSTS)
	];
}
