import type { SimulatorAnswer } from '../frame/protocol.ts';

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
