import { jsonObject, member, retryAfterSeconds, textMember, type HttpOutcome } from '../http.ts';
import type { FailureReason, StatusOutcome, SubmitOutcome } from '../operator.ts';
import { amountOf } from './amounts.ts';

/**
 * Parses pawaPay's responses (reference sections 5 and 8; docs.pawapay.io/v2/docs/failure_codes). Deposits and refunds
 * have the same form. Undocumented values decide nothing.
 */

/** Names of the same thing in both versions of the API. */
const REASONS: Readonly<Record<string, FailureReason>> = {
	PAYER_NOT_FOUND: 'invalid_payer',
	RECIPIENT_NOT_FOUND: 'invalid_payer',
	INVALID_PHONE_NUMBER: 'invalid_payer',
	PAYMENT_NOT_APPROVED: 'payer_declined',
	PAYER_LIMIT_REACHED: 'payer_limit',
	WALLET_LIMIT_REACHED: 'payer_limit',
	INSUFFICIENT_BALANCE: 'insufficient_funds',
	BALANCE_INSUFFICIENT: 'insufficient_funds',
	PAYMENT_IN_PROGRESS: 'provider_busy',
	TRANSACTION_ALREADY_IN_PROCESS: 'provider_busy',
	PROVIDER_TEMPORARILY_UNAVAILABLE: 'provider_busy',
	UNSPECIFIED_FAILURE: 'provider_error',
	OTHER_ERROR: 'provider_error',
	UNKNOWN_ERROR: 'provider_error'
};

/** @param other result for codes that are not about the payer or the network */
const reasonOf = (code: string | null, other: FailureReason): FailureReason =>
	(code !== null && Object.hasOwn(REASONS, code) ? REASONS[code] : undefined) ?? other;

const failureOf = (body: unknown) => {
	const failure = member(body, 'failureReason');
	const code = textMember(failure, 'failureCode');
	return { code, message: textMember(failure, 'failureMessage') ?? code };
};

/** Temporary refusals: the same request may be sent again later. */
export type Passing = (code: string | null) => boolean;

/**
 * Parses the response to POST /v2/deposits or /v2/refunds.
 * @param id member that repeats our reference
 */
export function submitOutcome(
	outcome: HttpOutcome,
	id: 'depositId' | 'refundId',
	reference: string,
	isPassing: Passing
): SubmitOutcome {
	if (outcome.kind === 'failure') return failedToSubmit(outcome);
	const { status, text: raw } = outcome;
	const body = jsonObject(raw);
	const { code, message } = failureOf(body);
	const refused = (reason: FailureReason, retryable: boolean): SubmitOutcome => ({
		kind: 'refused',
		reason,
		message: message ?? `HTTP ${status}`,
		retryable,
		raw
	});
	if (status === 429) return refused('provider_busy', true);
	if (status === 400 || status === 401 || status === 403) {
		return refused(reasonOf(code, 'merchant_error'), false);
	}
	if (status >= 500) return { kind: 'uncertain', cause: '5xx', raw };
	const named = textMember(body, id);
	if (status >= 200 && status < 300 && (named === null || named === reference)) {
		switch (textMember(body, 'status')) {
			case 'ACCEPTED':
				return { kind: 'accepted', operatorReference: null, raw };
			case 'DUPLICATE_IGNORED':
				return { kind: 'uncertain', cause: 'duplicate', raw };
			case 'REJECTED':
				return refused(reasonOf(code, 'merchant_error'), isPassing(code));
		}
	}
	return { kind: 'uncertain', cause: 'unparsable', raw };
}

function failedToSubmit({ cause, sent }: Extract<HttpOutcome, { kind: 'failure' }>): SubmitOutcome {
	if (sent) return { kind: 'uncertain', cause: cause === 'too_large' ? 'unparsable' : cause, raw: cause };
	const message = 'No connection to pawaPay.';
	return { kind: 'refused', reason: 'provider_busy', message, retryable: true, raw: cause };
}

/**
 * Parses the response to GET /v2/deposits/{id} or /v2/refunds/{id}: `FOUND` with the state inside, or `NOT_FOUND`. Only
 * COMPLETED and FAILED are final; every other state, known or not, is pending.
 */
export function statusOutcome(
	outcome: HttpOutcome,
	id: 'depositId' | 'refundId',
	reference: string
): StatusOutcome {
	if (outcome.kind === 'failure') {
		return { kind: 'unavailable', cause: outcome.cause, retryAfterSeconds: null };
	}
	const { status, text: raw, headers } = outcome;
	const body = jsonObject(raw);
	const unavailable = (cause: string): StatusOutcome => ({
		kind: 'unavailable',
		cause,
		retryAfterSeconds: retryAfterSeconds(headers)
	});
	const found = textMember(body, 'status');
	if (found === 'NOT_FOUND' && (status === 200 || status === 404)) return { kind: 'not_found', raw };
	if (status !== 200) return unavailable(describe(outcome));
	if (found !== 'FOUND') return unavailable('an answer that is not documented');

	const data = member(body, 'data');
	const named = textMember(data, id);
	if (named !== null && named !== reference) return unavailable('an answer about something else');
	const { code, message } = failureOf(data);
	switch (textMember(data, 'status')) {
		case 'COMPLETED':
			return { kind: 'succeeded', ...settledOf(data), at: null, raw };
		case 'FAILED':
			return {
				kind: 'failed',
				reason: reasonOf(code, 'unknown_reason'),
				message: message ?? 'No reason given.',
				raw
			};
		default:
			return { kind: 'pending', raw };
	}
}

/** The amount taken. Version 1 of the API, whose callbacks some accounts still get, calls it depositedAmount. */
export function settledOf(data: unknown): {
	providerReference: string | null;
	amountMinor: number | null;
	currency: string | null;
} {
	const currency = textMember(data, 'currency');
	const amount = textMember(data, 'depositedAmount') ?? textMember(data, 'amount');
	return {
		providerReference: textMember(data, 'providerTransactionId'),
		amountMinor: amountOf(amount, currency),
		currency
	};
}

/** A description of the problem, for people. */
export function describe(outcome: HttpOutcome): string {
	if (outcome.kind === 'failure') {
		if (outcome.cause === 'timeout') return 'the address does not answer in time';
		return outcome.sent ? 'the connection broke' : 'the address cannot be reached';
	}
	const { code } = failureOf(jsonObject(outcome.text));
	const said = code === null ? `HTTP ${outcome.status}` : `HTTP ${outcome.status}, ${code}`;
	const isRefusal = outcome.status === 401 || outcome.status === 403;
	return isRefusal ? `pawaPay refuses the API token or signature (${said})` : `pawaPay answered ${said}`;
}
