import type { AmountRule } from '#lib/domain/payment-methods/chargeable.ts';
import { toMajor } from '#lib/domain/money.ts';
import type { PaymentRequest, RefundRequest } from '../operator.ts';
import { plainText } from '../plain-text.ts';
import { MPESA_CURRENCY, type MpesaValues } from './settings.ts';

/**
 * Request bodies for Daraja (pages "M-Pesa Express", "Reversals", "Transaction Status", "Pull Transactions").
 * Field names are Daraja's, including "Reciever".
 */

/** Kenya has no daylight saving time. */
const NAIROBI_MS = 3 * 60 * 60 * 1000;
const MAX_DESCRIPTION = 13;
const MAX_REMARKS = 100;

/** In cents, which Daraja has no field for. */
export const WHOLE_SHILLINGS: AmountRule = { stepMinor: 100, minMinor: 100, maxMinor: 250_000_00 };

/** `YYYY-MM-DD HH:mm:ss` in Nairobi. */
const dateTime = (epochMs: number): string =>
	new Date(epochMs + NAIROBI_MS).toISOString().slice(0, 19).replace('T', ' ');

function credentials(values: MpesaValues, now: number) {
	const time = dateTime(now).replace(/\D/g, '');
	const { MPESA_SHORTCODE, MPESA_PASSKEY } = values;
	return {
		BusinessShortCode: Number(MPESA_SHORTCODE),
		Password: Buffer.from(MPESA_SHORTCODE + MPESA_PASSKEY + time).toString('base64'),
		Timestamp: time
	};
}

/** For payers and statements: 12 hex digits of our reference (48 random bits), the field's maximum. */
export const accountReference = (reference: string): string =>
	reference.replaceAll('-', '').slice(0, 12).toUpperCase();

/** Returns the start of our reference from an account reference; null if it is not ours. */
export function referenceStart(account: string): string | null {
	const [, first, second] = /^([0-9a-f]{8})([0-9a-f]{4})$/.exec(account.trim().toLowerCase()) ?? [];
	return first === undefined || second === undefined ? null : `${first}-${second}`;
}

const shillings = (amountMinor: number): string => String(toMajor(amountMinor, MPESA_CURRENCY));

/** A shop's till, otherwise the PayBill number. */
const receiver = (values: MpesaValues): string => values.MPESA_TILL ?? values.MPESA_SHORTCODE;

export const pushBody = (values: MpesaValues, request: PaymentRequest, now: number) => ({
	...credentials(values, now),
	TransactionType: values.MPESA_TILL === undefined ? 'CustomerPayBillOnline' : 'CustomerBuyGoodsOnline',
	Amount: shillings(request.amountMinor),
	PartyA: request.payerPhone.slice(1),
	PartyB: receiver(values),
	PhoneNumber: request.payerPhone.slice(1),
	CallBackURL: request.callbackUrl,
	AccountReference: accountReference(request.reference),
	TransactionDesc: plainText(request.description, MAX_DESCRIPTION) || 'Payment'
});

export const queryBody = (values: MpesaValues, checkoutRequestId: string, now: number) => ({
	...credentials(values, now),
	CheckoutRequestID: checkoutRequestId
});

/** Marks in our callback address distinguish messages that look alike. */
export const TIMEOUT_MARK = 'notice=timeout';
export const STATUS_MARK = 'notice=status';
export const AMOUNT_MARK = 'notice=amount';

const marked = (url: string, mark: string): string => `${url}${url.includes('?') ? '&' : '?'}${mark}`;

export interface Initiator {
	Initiator: string;
	SecurityCredential: string;
}

export function initiator(values: MpesaValues): Initiator | null {
	const { MPESA_INITIATOR: name, MPESA_SECURITY_CREDENTIAL: credential } = values;
	if (name === undefined || credential === undefined) return null;
	return { Initiator: name, SecurityCredential: credential };
}

export const reversalBody = (
	values: MpesaValues,
	asking: Initiator,
	request: Pick<RefundRequest, 'reference' | 'amountMinor'> & { receipt: string; callbackUrl: string }
) => ({
	...asking,
	CommandID: 'TransactionReversal',
	TransactionID: request.receipt,
	Amount: shillings(request.amountMinor),
	ReceiverParty: receiver(values),
	RecieverIdentifierType: '11',
	ResultURL: request.callbackUrl,
	QueueTimeOutURL: marked(request.callbackUrl, TIMEOUT_MARK),
	Remarks: plainText(`Refund ${accountReference(request.reference)}`, MAX_REMARKS),
	Occasion: accountReference(request.reference)
});

/**
 * Queries a reversal, or a payment. Daraja sends the result to the callback address.
 * @param about what is known of it: its receipt, or the id that Daraja gave its request
 */
export const statusBody = (
	values: MpesaValues,
	asking: Initiator,
	about: { TransactionID: string } | { OriginalConversationID: string },
	{ callbackUrl, mark }: { callbackUrl: string; mark: string }
) => ({
	...asking,
	CommandID: 'TransactionStatusQuery',
	...about,
	PartyA: receiver(values),
	IdentifierType: values.MPESA_TILL === undefined ? '4' : '2',
	ResultURL: marked(callbackUrl, mark),
	QueueTimeOutURL: marked(callbackUrl, TIMEOUT_MARK),
	Remarks: mark === STATUS_MARK ? 'Refund status' : 'Amount paid',
	Occasion: mark === STATUS_MARK ? 'Refund' : 'Payment'
});

export const pullBody = (values: MpesaValues, from: number, to: number, offset: number) => ({
	ShortCode: receiver(values),
	StartDate: dateTime(from),
	EndDate: dateTime(to),
	OffSetValue: String(offset)
});
