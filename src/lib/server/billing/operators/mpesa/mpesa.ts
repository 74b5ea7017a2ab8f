import { X509Certificate, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { baseUrl, credential, defineOperator, type Installation } from '../definition.ts';
import { createMpesa } from './adapter.ts';
import { MPESA_CURRENCY, type MpesaValues } from './values.ts';
import { referenceStart } from './wire.ts';

/**
 * Safaricom Daraja, M-Pesa Express. Source: the pages of that name on developer.safaricom.co.ke. The id is not `mpesa`,
 * because it is part of callback addresses, and Daraja advises against its own names there.
 */

const certificate = z.string().transform((path, context): KeyObject => {
	try {
		return new X509Certificate(readFileSync(path)).publicKey;
	} catch {
		context.addIssue({ code: 'custom', message: 'Name a file with a certificate (PEM or DER).' });
		return z.NEVER;
	}
});

const shortcode = z.string().regex(/^[1-9]\d{4,6}$/, 'Use five to seven digits.');

export const mpesa = defineOperator({
	id: 'daraja',
	name: 'M-Pesa Express (Daraja)',
	settings: {
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
			schema: z.enum(['on', 'off'], { error: 'Use "on" or "off".' }),
			default: 'off',
			description:
				"`on`: what a lost callback did not tell is searched in Daraja's list of settled payments. Register the shortcode for Pull Transactions first."
		},
		MPESA_INITIATOR: {
			schema: credential.optional(),
			description: 'Name of the API operator that may reverse payments. Without it there are no refunds.'
		},
		MPESA_SECURITY_CREDENTIAL: {
			schema: credential.regex(/^[A-Za-z0-9+/]+={0,2}$/, 'Use the Base64 text of the portal.').optional(),
			description: "The initiator's password, encrypted by Daraja's portal."
		},
		MPESA_INITIATOR_PASSWORD: {
			schema: credential.optional(),
			description:
				'Instead of `MPESA_SECURITY_CREDENTIAL`: the password itself, encrypted here with `MPESA_CERTIFICATE_FILE`.'
		},
		MPESA_CERTIFICATE_FILE: {
			schema: certificate.optional(),
			description: "Path of M-Pesa's certificate for that, from Daraja's portal (PEM or DER)."
		}
	},
	methods: () => ['mpesa'],
	check: (values, installation) => [...checkPlace(values, installation), ...checkRefunds(values)],
	create: createMpesa,
	// Names of the organisation portal's statement, then of Pull Transactions.
	statement: {
		reference: ['A/C No.', 'A/C No', 'Account No.', 'billreference'],
		referenceStart,
		providerReference: ['Receipt No.', 'Receipt No', 'transactionId'],
		amount: ['Paid In', 'Paid in', 'Amount', 'amount'],
		status: { names: ['Transaction Status'], settled: ['Completed'] }
	}
});

/** Daraja asks not to use these in addresses: the rules of the page "Customer To Business Register URL". */
const UNWANTED = /m-?pesa|safaricom|exec?|cmd|sql|query/i;

function checkPlace(values: MpesaValues, { mode, currency, callbackUrl }: Installation): string[] {
	const problems: string[] = [];
	if (currency !== MPESA_CURRENCY) problems.push(`CURRENCY: must be ${MPESA_CURRENCY} with M-Pesa.`);
	if (mode === 'sandbox') return problems;
	if (!values.MPESA_BASE_URL.startsWith('https:'))
		problems.push('MPESA_BASE_URL: must be https in live mode.');
	if (new URL(values.MPESA_BASE_URL).hostname.startsWith('sandbox.')) {
		problems.push("MPESA_BASE_URL: is Daraja's sandbox, which is refused in live mode.");
	}
	if (!callbackUrl.startsWith('https:')) {
		problems.push('CALLBACK_URL: must be a public https address for M-Pesa in live mode.');
	}
	const word = UNWANTED.exec(callbackUrl)?.[0];
	if (word !== undefined) {
		problems.push(`CALLBACK_URL: must not contain "${word}", which M-Pesa refuses in callback addresses.`);
	}
	return problems;
}

function checkRefunds(values: MpesaValues): string[] {
	const {
		MPESA_INITIATOR: initiator,
		MPESA_SECURITY_CREDENTIAL: made,
		MPESA_INITIATOR_PASSWORD: password,
		MPESA_CERTIFICATE_FILE: file
	} = values;
	const anyOther = made ?? password ?? file;
	if (initiator === undefined) {
		return anyOther === undefined ? [] : ['MPESA_INITIATOR: is required for refunds.'];
	}
	if (made !== undefined) {
		return password === undefined && file === undefined
			? []
			: ['MPESA_SECURITY_CREDENTIAL: set either it, or MPESA_INITIATOR_PASSWORD and MPESA_CERTIFICATE_FILE.'];
	}
	if (password === undefined && file === undefined) {
		return [
			'MPESA_SECURITY_CREDENTIAL: is required with MPESA_INITIATOR (or MPESA_INITIATOR_PASSWORD and MPESA_CERTIFICATE_FILE).'
		];
	}
	if (password === undefined) return ['MPESA_INITIATOR_PASSWORD: is required with MPESA_CERTIFICATE_FILE.'];
	if (file === undefined) return ['MPESA_CERTIFICATE_FILE: is required with MPESA_INITIATOR_PASSWORD.'];
	return [];
}
