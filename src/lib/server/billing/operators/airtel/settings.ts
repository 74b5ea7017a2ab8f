import { z } from 'zod';
import type { Setting } from '#lib/server/config/setting.ts';
import { baseUrl, countryCode, credential, onOff, type Installation, type ValuesOf } from '../definition.ts';

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

/** Airtel's own hosts: `openapiuat.` is its test system, `openapi.` moves money. */
const hostKind = (url: string) => /^https?:\/\/openapi(uat)?\.airtel\./.exec(url)?.[0];

export function checkSettings(values: AirtelValues, { mode, currency, callbackUrl }: Installation): string[] {
	const problems: string[] = [];
	const { AIRTEL_BASE_URL: url, AIRTEL_MIN_AMOUNT: min, AIRTEL_MAX_AMOUNT: max } = values;
	if (values.AIRTEL_CURRENCY !== currency) {
		problems.push(`AIRTEL_CURRENCY: is ${values.AIRTEL_CURRENCY}, but CURRENCY is ${currency}.`);
	}
	if (min !== undefined && max !== undefined && min > max) {
		problems.push('AIRTEL_MIN_AMOUNT: is more than AIRTEL_MAX_AMOUNT.');
	}
	if (mode === 'live') {
		if (!url.startsWith('https:')) problems.push('AIRTEL_BASE_URL: must be https in live mode.');
		if (hostKind(url)?.includes('openapiuat')) {
			problems.push('AIRTEL_BASE_URL: is Airtel’s test system, which has no place in live mode.');
		}
		if (!callbackUrl.startsWith('https:')) {
			problems.push('CALLBACK_URL: must be https in live mode, because Airtel calls no other address.');
		}
	} else if (hostKind(url) && !hostKind(url)?.includes('openapiuat')) {
		problems.push('AIRTEL_BASE_URL: moves real money; a sandbox takes Airtel’s test system (openapiuat).');
	}
	return problems;
}
