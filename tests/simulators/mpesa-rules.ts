import type { OutgoingCallback, SimulatorAnswer } from './simulator.ts';
import type { Books, SimulatedPayment } from './books.ts';
import type { CallbackScript } from './script.ts';
import { constants, generateKeyPairSync, privateDecrypt, publicEncrypt } from 'node:crypto';

/** Refusals of Daraja and the names of its result codes. */

let requests = 0;

export const error = (status: number, errorCode: string, errorMessage: string): SimulatorAnswer => ({
	status,
	body: { requestId: `${12_345}-${60_000_000 + (requests += 1)}-1`, errorCode, errorMessage }
});

export const invalid = (what: string): SimulatorAnswer =>
	error(400, '400.002.02', `Bad Request - Invalid ${what}`);

export const LOCKED =
	'Unable to lock subscriber, a transaction is already in process for the current subscriber';

const MESSAGES: Readonly<Record<string, string>> = {
	'400.002.02': 'Bad Request - Invalid PhoneNumber',
	'404.001.01': 'Resource not found',
	'404.001.03': 'Invalid Access Token',
	'405.001': 'Method Not Allowed',
	'500.001.1001': LOCKED,
	'500.003.02': 'Error Occurred: Spike Arrest Violation',
	'500.003.03': 'Error Occurred: Quota Violation',
	'500.003.1001': 'Internal Server Error'
};

/** @param codeAndText a code, optionally with a text of its own: `500.001.1001 Wrong credentials` */
export function errorFor(codeAndText: string): SimulatorAnswer {
	const [code = '', ...words] = codeAndText.split(' ');
	return error(Number(code.slice(0, 3)) || 500, code, words.join(' ') || (MESSAGES[code] ?? 'Error'));
}

const RESULTS: Readonly<Record<string, string>> = {
	'0': 'The service request is processed successfully.',
	'1': 'The balance is insufficient for the transaction.',
	'2': 'Declined due to limit rule: less than the minimum transaction amount.',
	'3': 'Declined due to limit rule: greater than the maximum transaction amount.',
	'4': 'Declined due to limit rule: would exceed the daily transfer limit.',
	'8': 'Declined due to limit rule: would exceed the maximum balance.',
	'11': 'The DebitParty is in an invalid state.',
	'17': 'Rule limited.',
	'21': 'The initiator is not allowed to initiate this request.',
	'1001': 'Unable to lock subscriber, a transaction is already in process for the current subscriber',
	'1019': 'Transaction has expired.',
	'1025': 'An error occurred while sending a push request.',
	'1032': 'Request cancelled by user.',
	'1037': 'DS timeout user cannot be reached.',
	'2001': 'The initiator information is invalid.',
	'2006': 'Declined due to account rule: The account status does not allow this transaction.',
	'2028': 'The request is not permitted according to product assignment.',
	'8006': 'The security credential is locked.',
	'9999': 'An error occurred while sending a push request.',
	R000001: 'The transaction has already been reversed.',
	R000002: 'The OriginalTransactionID is invalid.',
	SFC_IC0003: 'The operator does not exist.'
};

export const resultText = (code: string): string => RESULTS[code] ?? 'The transaction failed.';

/** A number where the code is one, as callbacks have it. */
export const resultNumber = (code: string): number | string => (/^\d+$/.test(code) ? Number(code) : code);

/** A field as text, whichever of number and text it came as; null when it is neither. */
export function field(body: Record<string, unknown>, name: string): string | null {
	const value = body[name];
	return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}

export const isUrl = (text: string | null): text is string =>
	text !== null && /^https?:\/\/[^\s/]+/.test(text) && URL.canParse(text);

/** `YYYYMMDDHHmmss` in Nairobi. */
export const compactTime = (epochMs: number): string =>
	new Date(epochMs + 10_800_000).toISOString().replace(/[^\d]/g, '').slice(0, 14);

/** The id that payers and statements see, made of a number. */
export const receipt = (kind: 'payment' | 'refund', number: number): string =>
	(kind === 'payment' ? 'SKA' : 'SKR') + number.toString(36).toUpperCase().padStart(7, '0');

/** Daraja's request to the `CallBackURL` of a push. */

/** Nothing is sent before there is a result; `forged_success` comes with a receipt that nobody wrote. */
export function callback(
	payment: SimulatedPayment,
	outcome: string,
	{ alter }: CallbackScript,
	books: Books
): OutgoingCallback | null {
	if (payment.callbackUrl === null || outcome === 'pending') return null;
	const code = outcome === 'success' ? '0' : outcome;
	const taken = books.takenOf(payment) || payment.amount;
	const amount = { Name: 'Amount', Value: alter === 'wrong_amount' ? taken + 1 : taken };
	const receiptItem = {
		Name: 'MpesaReceiptNumber',
		Value: alter === 'forged_success' ? 'FORGED0001' : receipt('payment', payment.number)
	};
	const date = { Name: 'TransactionDate', Value: Number(compactTime(books.now())) };
	const number = { Name: 'PhoneNumber', Value: Number(payment.phone) };
	const masked = { Name: 'PhoneNumber', Value: `${payment.phone.slice(0, 6)}***${payment.phone.slice(-3)}` };
	// The list has no order; the balance usually has no value, and newer callbacks leave it out.
	const items = payment.script.otherForm
		? [masked, date, receiptItem, amount]
		: [amount, receiptItem, { Name: 'Balance' }, date, number];
	const stkCallback = {
		MerchantRequestID: payment.request['MerchantRequestID'],
		CheckoutRequestID:
			alter === 'wrong_id' ? checkoutRequestId(books.now(), 999, '254700000000') : payment.operatorReference,
		ResultCode: resultNumber(code),
		ResultDesc: resultText(code),
		...(code === '0' ? { CallbackMetadata: { Item: items } } : {})
	};
	return {
		url: payment.callbackUrl,
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ Body: { stkCallback } })
	};
}

/** `ws_CO_`, day, month, year, time, a counter and the end of the number. */
export function checkoutRequestId(now: number, number: number, phone: string): string {
	const time = compactTime(now);
	const date = time.slice(6, 8) + time.slice(4, 6) + time.slice(0, 4);
	return `ws_CO_${date}${time.slice(8)}${String(number).padStart(3, '0')}${phone.slice(-9)}`;
}

const RSA = { padding: constants.RSA_PKCS1_PADDING };

/** One pair for the whole process, as the operator has one certificate. */
let keys: ReturnType<typeof generateKeys> | null = null;

const generateKeys = () => generateKeyPairSync('rsa', { modulusLength: 2048 });

/** M-Pesa's key pair, with which a client encrypts the initiator's password. */
export function createSecurityCredential() {
	const { publicKey, privateKey } = (keys ??= generateKeys());
	return {
		/** The public key of the operator's certificate, as SPKI in PEM. */
		publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
		/** As the operator's portal does it. */
		encrypt: (password: string): string =>
			publicEncrypt({ key: publicKey, ...RSA }, Buffer.from(password)).toString('base64'),
		/** @returns null when it was not encrypted with the public key */
		decrypt(securityCredential: string): string | null {
			try {
				const encrypted = Buffer.from(securityCredential, 'base64');
				return privateDecrypt({ key: privateKey, ...RSA }, encrypted).toString('utf8');
			} catch {
				return null;
			}
		}
	};
}
