import type { AuthorisedOutcome, OperatorResponse } from './client.ts';
import type { CallbackHint, FailureReason, StatusOutcome, SubmitOutcome } from './operator.ts';
import { httpText, isForeignRefusal, retryAfterSeconds } from './response.ts';
import type { PaymentBody } from '../../contract/payment.ts';

type Refused = Extract<SubmitOutcome, { kind: 'refused' }>;

export const refused = (reason: FailureReason, message: string, raw = message): Refused => ({
	kind: 'refused',
	reason,
	message,
	retryable: false,
	raw
});

/** A temporary refusal: the same request may be sent again. */
export const busy = (message: string, raw = message, retryAfterSeconds = 0): Refused => ({
	kind: 'refused',
	reason: 'provider_unavailable',
	message,
	retryable: true,
	retryAfterSeconds,
	raw
});

export const unavailable = (cause: string, retryAfterSeconds: number | null = null): StatusOutcome => ({
	kind: 'unavailable',
	cause,
	retryAfterSeconds
});

export const reasonIn = (
	reasons: Readonly<Record<string, FailureReason>>,
	code: string | null,
	otherwise: FailureReason
): FailureReason => (Object.hasOwn(reasons, code ?? '') ? reasons[code ?? ''] : undefined) ?? otherwise;

/** Nothing was sent. */
export const CROWDED = 'too many requests wait for the operator';
/** The operator may have recovered, and a callback may be why it is asked: not the pause of an old payment. */
export const CROWDED_MS = 5_000;

export const isCrowded = (outcome: StatusOutcome): boolean =>
	outcome.kind === 'unavailable' && outcome.cause === CROWDED;

type Unanswered = Exclude<AuthorisedOutcome, { kind: 'response' }>;

/** Converts the outcome of a payment or refund request without a response. */
export function unanswered(name: string, outcome: Unanswered): SubmitOutcome {
	if (outcome.kind === 'refused') {
		const raw = httpText(outcome.status, outcome.text);
		return refused('merchant_error', `${name} refuses the credentials (${raw})`, raw);
	}
	if (outcome.kind === 'unavailable') return busy(`${name} gives no token: ${outcome.cause}`, outcome.cause);
	const { cause, sent } = outcome;
	if (!sent) return busy(`${name} cannot be reached: ${cause}`, cause);
	return { kind: 'uncertain', raw: cause };
}

export const causeOf = (outcome: Unanswered): string =>
	outcome.kind === 'refused'
		? `credentials refused (${httpText(outcome.status, outcome.text)})`
		: outcome.cause;

/** Converts a response that is no success, by its HTTP status. @param reason of a refusal */
export function unaccepted(
	answer: OperatorResponse,
	reason: FailureReason,
	message: string,
	raw: string
): SubmitOutcome {
	const { status } = answer;
	if (status === 429) return busy(message, raw, retryAfterSeconds(answer.headers) ?? 0);
	if ([400, 401, 403, 404, 405, 415].includes(status) && !isForeignRefusal(answer)) {
		return refused(reason, message, raw);
	}
	return { kind: 'uncertain', raw };
}

export const NO_HINT: CallbackHint = {
	...{ claimed: 'unknown', authentic: 'absent', reference: null, operatorReference: null },
	...{ providerReference: null, amountMinor: null, currency: null }
};

export type FailureCode = NonNullable<PaymentBody['failure_code']>;

export const failureCode = (reason: FailureReason): FailureCode =>
	reason === 'merchant_error' ? 'provider_error' : reason;

/** Sentences for people; the operator's own words stay in its messages. */
export const FAILURE_MESSAGES: Record<FailureCode, string> = {
	payer_rejected: 'The payer declined the payment, or the PIN was wrong.',
	insufficient_funds: 'The payer does not have enough money on this number.',
	payer_not_found: 'The number has no mobile-money account with this operator.',
	payer_limit_reached: "The payment is beyond the payer's limit with the operator.",
	payer_timeout: 'The payer did not approve the payment in time.',
	provider_unavailable: 'The operator is not available now.',
	provider_error: 'The operator could not make the payment.'
};
