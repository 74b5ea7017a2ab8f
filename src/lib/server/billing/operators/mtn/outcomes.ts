import { httpText, jsonObject, member, retryAfterSeconds, textMember } from '../response.ts';
import type { CallbackHint, FailureReason, MoneyTaken, StatusOutcome, SubmitOutcome } from '../operator.ts';
import type { AuthorisedOutcome } from '../client.ts';
import { causeOf, reasonIn, refused, unaccepted, unanswered, unavailable } from '../outcomes.ts';

/** Parses MTN's responses (momodeveloper.mtn.com, common errors). Payments and refunds share states and reasons. */

const REASONS: Readonly<Record<string, FailureReason>> = {
	APPROVAL_REJECTED: 'payer_rejected',
	REJECTED: 'payer_rejected',
	PAYMENT_NOT_APPROVED: 'payer_rejected',
	TRANSACTION_CANCELED: 'payer_rejected',
	EXPIRED: 'payer_timeout',
	// The five minutes for approval have passed.
	COULD_NOT_PERFORM_TRANSACTION: 'payer_timeout',
	NOT_ENOUGH_FUNDS: 'insufficient_funds',
	PAYER_LIMIT_REACHED: 'payer_limit_reached',
	PAYER_NOT_FOUND: 'payer_not_found',
	SENDER_ACCOUNT_NOT_ACTIVE: 'provider_error',
	PAYEE_NOT_ALLOWED_TO_RECEIVE: 'merchant_error',
	PAYEE_NOT_FOUND: 'merchant_error',
	NOT_ALLOWED: 'merchant_error',
	NOT_ALLOWED_TARGET_ENVIRONMENT: 'merchant_error',
	INVALID_CALLBACK_URL_HOST: 'merchant_error',
	INVALID_CURRENCY: 'merchant_error',
	TRANSFER_TYPE_UNKNOWN: 'merchant_error',
	INTERNAL_PROCESSING_ERROR: 'provider_error',
	SERVICE_UNAVAILABLE: 'provider_unavailable'
};

/** Listed among the failure reasons, but not final. */
const OPEN_REASONS = ['ONGOING', 'PENDING', 'DELAYED', 'PAYER_DELAYED'];

/** HTTP 500 errors about our configuration: nothing was queued. */
const CONFIGURATION_CODES = [
	'NOT_ALLOWED',
	'NOT_ALLOWED_TARGET_ENVIRONMENT',
	'INVALID_CALLBACK_URL_HOST',
	'INVALID_CURRENCY',
	'TRANSFER_TYPE_UNKNOWN'
];

/** They say only that MTN has not made the payment so far. */
const PASSING = [...OPEN_REASONS, 'INTERNAL_PROCESSING_ERROR', 'SERVICE_UNAVAILABLE'];

/** Reads the amount taken, in our currency; null if it cannot be parsed. */
export type ReadMoney = (body: Record<string, unknown>) => MoneyTaken | null;

export function submitOutcome(outcome: AuthorisedOutcome): SubmitOutcome {
	if (outcome.kind !== 'response') return unanswered('MTN MoMo', outcome);
	const { status, text } = outcome;
	const raw = httpText(status, text);
	// 409: MTN already has this reference, which no other request uses.
	if (status === 202 || status === 409) return { kind: 'accepted', operatorReference: null, raw };
	const body = jsonObject(text);
	const code = reasonOf(body);
	const message = `MTN MoMo refused ${code ?? 'the request'} (HTTP ${status})`;
	// A refusal as a success of HTTP. Without a code that is final, the status read decides.
	const isTold = status >= 200 && status < 300 && Object.hasOwn(REASONS, code ?? '');
	if (isTold && !PASSING.includes(code ?? '') && (body === null || stateOf(body) !== 'succeeded')) {
		return refused(reasonIn(REASONS, code, 'merchant_error'), message, raw);
	}
	if (status === 500 && CONFIGURATION_CODES.includes(code ?? '')) {
		return refused('merchant_error', message, raw);
	}
	const reason = status === 400 ? reasonIn(REASONS, code, 'merchant_error') : 'merchant_error';
	return unaccepted(outcome, reason, message, raw);
}

/** Parses the response to a status read. Only `status` decides. */
export function statusOutcome(outcome: AuthorisedOutcome, readMoney: ReadMoney): StatusOutcome {
	if (outcome.kind !== 'response') return unavailable(causeOf(outcome));
	const { status, headers, text } = outcome;
	const body = jsonObject(text);
	if ((status === 404 || status === 200) && isUnknownReference(body))
		return { kind: 'not_found', raw: httpText(status, text) };
	if (status !== 200 || body === null) {
		return unavailable(status === 200 ? 'not JSON' : `HTTP ${status}`, retryAfterSeconds(headers));
	}
	const reason = reasonOf(body);
	switch (stateOf(body)) {
		case 'pending':
			return { kind: 'pending', raw: text };
		case 'failed':
			return {
				kind: 'failed',
				reason: reasonIn(REASONS, reason, 'provider_error'),
				message: failureText(reason),
				raw: text
			};
		case 'succeeded': {
			const money = readMoney(body);
			if (money === null) {
				const message = 'MTN MoMo says SUCCESSFUL, with an amount that cannot be read.';
				return { kind: 'contradiction', message, raw: text };
			}
			return {
				kind: 'succeeded',
				providerReference: textMember(body, 'financialTransactionId'),
				...money,
				raw: text
			};
		}
		case 'unknown':
			return unavailable('unknown status');
	}
}

export function stateOf(body: Record<string, unknown>): CallbackHint['claimed'] {
	switch (textMember(body, 'status')?.toUpperCase()) {
		case 'SUCCESSFUL':
			return 'succeeded';
		case 'CREATED':
		case 'PENDING':
			return 'pending';
		case 'FAILED':
			return OPEN_REASONS.includes(reasonOf(body) ?? '') ? 'pending' : 'failed';
		default:
			return 'unknown';
	}
}

/** `reason` is a string in most responses and an object in some; errors have a `code`. */
const reasonOf = (body: Record<string, unknown> | null): string | null =>
	textMember(body, 'reason') ?? textMember(member(body, 'reason'), 'code') ?? textMember(body, 'code');

/** The gateway's own 404, with `statusCode`, is about its paths, not about the payment. */
const isUnknownReference = (body: Record<string, unknown> | null): boolean =>
	textMember(body, 'statusCode') === null &&
	/resource.*not.found/i.test(`${reasonOf(body) ?? ''}\n${textMember(body, 'message') ?? ''}`);

const failureText = (reason: string | null): string =>
	reason === 'INTERNAL_PROCESSING_ERROR'
		? 'INTERNAL_PROCESSING_ERROR: mostly missing funds'
		: (reason ?? 'no reason given');
