import { z } from 'zod';
import type { Setting } from '#lib/server/config/setting.ts';
import { baseUrl, checkAddress, credential, onOff, type Installation, type ValuesOf } from '../definition.ts';

const shortcode = z.string().regex(/^[1-9]\d{4,6}$/, 'Use five to seven digits.');

export const SETTINGS = {
	MPESA_BASE_URL: {
		schema: baseUrl,
		description: '`https://sandbox.safaricom.co.ke` or `https://api.safaricom.co.ke`.'
	},
	MPESA_CONSUMER_KEY: {
		schema: credential,
		description: "The app's consumer key, from Daraja's portal."
	},
	MPESA_CONSUMER_SECRET: {
		schema: credential,
		description: "The app's consumer secret."
	},
	MPESA_SHORTCODE: {
		schema: shortcode,
		description: 'PayBill number, or the store (head office) number of a till.'
	},
	MPESA_PASSKEY: {
		schema: credential,
		description: "The shortcode's passkey for M-Pesa Express."
	},
	MPESA_TILL: {
		schema: shortcode.optional(),
		description: 'Till number. Set: payers buy goods at this till. Not set: they pay the PayBill number.'
	},
	MPESA_PULL: {
		schema: onOff,
		default: 'off',
		description:
			"`on`: what a lost callback did not tell is searched in Daraja's list of settled payments. Register the shortcode for Pull Transactions first."
	},
	MPESA_INITIATOR: {
		schema: credential.optional(),
		description:
			'Name of the API operator that may reverse payments and ask for amounts. Without it there are no refunds.'
	},
	MPESA_SECURITY_CREDENTIAL: {
		schema: credential.regex(/^[A-Za-z0-9+/]+={0,2}$/, 'Use the Base64 text of the portal.').optional(),
		description: "The initiator's password, encrypted by Daraja's portal."
	}
} as const satisfies Record<string, Setting>;

export type MpesaValues = ValuesOf<typeof SETTINGS>;

/** Daraja supports no other currency. */
export const MPESA_CURRENCY = 'KES';

const HOSTS = { real: /^api\.safaricom\.co\.ke$/, test: /^sandbox\./ };

/** Daraja asks not to use these in addresses (page "Customer To Business Register URL"). */
const UNWANTED = /m-?pesa|safaricom|exec?|cmd|sql|query/i;

export function checkSettings(values: MpesaValues, installation: Installation) {
	const { mode, currency, callbackUrl } = installation;
	const word = mode === 'live' ? UNWANTED.exec(callbackUrl)?.[0] : undefined;
	const { MPESA_INITIATOR: initiator, MPESA_SECURITY_CREDENTIAL: credential } = values;
	return [
		currency !== MPESA_CURRENCY && `CURRENCY: must be ${MPESA_CURRENCY} with M-Pesa.`,
		...checkAddress('MPESA_BASE_URL', values.MPESA_BASE_URL, installation, HOSTS),
		word !== undefined &&
			`CALLBACK_URL: must not contain "${word}", which M-Pesa refuses in callback addresses.`,
		initiator === undefined && credential !== undefined && 'MPESA_INITIATOR: is required for refunds.',
		initiator !== undefined &&
			credential === undefined &&
			"MPESA_SECURITY_CREDENTIAL: is required with MPESA_INITIATOR; Daraja's portal makes it from the initiator's password."
	];
}
