import type { HttpOutcome } from '#lib/server/platform/http/http-client.ts';
import { jsonObject, member, retryAfterSeconds, textMember } from '../response.ts';
import type { FailureReason, Paid, StatusOutcome, SubmitOutcome } from '../operator.ts';
import { reasonIn, refused, unaccepted, unanswered, unavailable } from '../outcomes.ts';
import { amountOf } from './amounts.ts';

/**
 * Parses pawaPay's responses (docs.pawapay.io/v2/docs/failure_codes). Deposits
 * and refunds have the same form. Undocumented values decide nothing.
 */

/** Codes of both versions of the API. */
const REASONS: Readonly<Record<string, FailureReason>> = {
	PAYER_NOT_FOUND: 'payer_not_found',
	RECIPIENT_NOT_FOUND: 'payer_not_found',
	INVALID_PHONE_NUMBER: 'payer_not_found',
	PAYMENT_NOT_APPROVED: 'payer_rejected',
	PAYER_LIMIT_REACHED: 'payer_limit_reached',
	WALLET_LIMIT_REACHED: 'payer_limit_reached',
	INSUFFICIENT_BALANCE: 'insufficient_funds',
	BALANCE_INSUFFICIENT: 'insufficient_funds',
	PAYMENT_IN_PROGRESS: 'provider_unavailable',
	TRANSACTION_ALREADY_IN_PROCESS: 'provider_unavailable',
	PROVIDER_TEMPORARILY_UNAVAILABLE: 'provider_unavailable',
	UNSPECIFIED_FAILURE: 'provider_error',
	OTHER_ERROR: 'provider_error',
	UNKNOWN_ERROR: 'provider_error'
};

const stateOf = (body: unknown): string | null => textMember(body, 'status')?.toUpperCase() ?? null;

/** Codes that refuse a request, also without a state. The unspecific ones may hide one that was queued. */
const REFUSALS = new Set([
	...Object.keys(REASONS).filter((code) => REASONS[code] !== 'provider_error'),
	...['INVALID_CURRENCY', 'INVALID_AMOUNT', 'AMOUNT_OUT_OF_BOUNDS', 'INVALID_PROVIDER', 'INVALID_INPUT'],
	...['MISSING_PARAMETER', 'UNSUPPORTED_PARAMETER', 'INVALID_PARAMETER', 'DUPLICATE_METADATA_FIELD'],
	...['NO_AUTHENTICATION', 'AUTHENTICATION_ERROR', 'AUTHORISATION_ERROR', 'HTTP_SIGNATURE_ERROR'],
	...['DEPOSITS_NOT_ALLOWED', 'REFUNDS_NOT_ALLOWED']
]);

function failureOf(body: unknown, unnamed: string) {
	const failure = member(body, 'failureReason');
	const code = textMember(failure, 'failureCode');
	return { code, message: textMember(failure, 'failureMessage') ?? code ?? unnamed };
}

/** Parses the response to a deposit or refund. `passing`: codes after which it may be sent again. */
export function submitOutcome(
	outcome: HttpOutcome,
	id: 'depositId' | 'refundId',
	reference: string,
	passing: readonly string[]
): SubmitOutcome {
	if (outcome.kind === 'failure') return unanswered('pawaPay', outcome);
	const { status, text: raw } = outcome;
	const body = jsonObject(raw);
	const { code, message } = failureOf(body, `HTTP ${status}`);
	const reason = reasonIn(REASONS, code, 'merchant_error');
	const isOurs = (textMember(body, id) ?? reference) === reference;
	const isFine = status >= 200 && status < 300 && isOurs;
	const refusal = REFUSALS.has(code ?? '') ? 'REJECTED' : null;
	switch (isFine ? (stateOf(body) ?? refusal) : null) {
		case 'ACCEPTED':
		case 'DUPLICATE_IGNORED':
			return { kind: 'accepted', operatorReference: null, raw };
		case 'REJECTED':
		case 'FAILED':
			return { ...refused(reason, message, raw), retryable: passing.includes(code ?? '') };
		default:
			return unaccepted(outcome, reason, message, raw);
	}
}

/** Parses `FOUND` or `NOT_FOUND`. Only the states COMPLETED and FAILED are final; all others are pending. */
export function statusOutcome(
	outcome: HttpOutcome,
	id: 'depositId' | 'refundId',
	reference: string
): StatusOutcome {
	if (outcome.kind === 'failure') return unavailable(outcome.cause);
	const { status, text: raw, headers } = outcome;
	const body = jsonObject(raw);
	const unknown = (cause: string) => unavailable(cause, retryAfterSeconds(headers));
	const found = stateOf(body);
	if (found === 'NOT_FOUND' && (status === 200 || status === 404)) return { kind: 'not_found', raw };
	if (status !== 200) return unknown(describe(outcome));
	if (found !== 'FOUND') return unknown('an answer that is not documented');

	const data = member(body, 'data');
	const named = textMember(data, id);
	if (named !== null && named !== reference) return unknown('an answer about something else');
	const { code, message } = failureOf(data, 'No reason given.');
	switch (stateOf(data)) {
		case 'COMPLETED':
			return { kind: 'succeeded', ...paidOf(data), raw };
		case 'FAILED':
			return { kind: 'failed', reason: reasonIn(REASONS, code, 'provider_error'), message, raw };
		default:
			return { kind: 'pending', raw };
	}
}

/** Version 1 of the API, whose callbacks some accounts still get, calls the amount depositedAmount. */
export function paidOf(data: unknown): Paid {
	const currency = textMember(data, 'currency');
	const amount = textMember(data, 'depositedAmount') ?? textMember(data, 'amount');
	return {
		providerReference: textMember(data, 'providerTransactionId'),
		amountMinor: amountOf(amount, currency),
		currency
	};
}

export function describe(outcome: HttpOutcome): string {
	if (outcome.kind === 'failure') {
		if (outcome.cause === 'timeout') return 'the address does not answer in time';
		return outcome.sent ? 'the connection broke' : 'the address cannot be reached';
	}
	const { code } = failureOf(jsonObject(outcome.text), '');
	const said = code === null ? `HTTP ${outcome.status}` : `HTTP ${outcome.status}, ${code}`;
	const isRefusal = outcome.status === 401 || outcome.status === 403;
	return isRefusal ? `pawaPay refuses the API token or signature (${said})` : `pawaPay answered ${said}`;
}
