import type { PaymentBody } from '#lib/server/contract/schemas.ts';
import type { FailureReason } from './operator.ts';

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
