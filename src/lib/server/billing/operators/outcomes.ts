import type { AuthorisedOutcome } from './client.ts';
import type { CallbackHint, FailureReason, StatusOutcome, SubmitOutcome } from './operator.ts';

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
		const raw = `HTTP ${outcome.status} ${outcome.text}`.trim();
		return refused('merchant_error', `${name} refuses the credentials (${raw})`, raw);
	}
	if (outcome.kind === 'unavailable') return busy(`${name} gives no token: ${outcome.cause}`, outcome.cause);
	const { cause, sent } = outcome;
	if (!sent) return busy(`${name} cannot be reached: ${cause}`, cause);
	return { kind: 'uncertain', cause: cause === 'too_large' ? 'unparsable' : cause, raw: cause };
}

export const causeOf = (outcome: Unanswered): string =>
	outcome.kind === 'refused'
		? `credentials refused (HTTP ${outcome.status} ${outcome.text})`.replace(' )', ')')
		: outcome.cause;

export const NO_HINT: CallbackHint = {
	...{ claimed: 'unknown', authentic: 'absent', reference: null, operatorReference: null },
	...{ providerReference: null, amountMinor: null, currency: null }
};
