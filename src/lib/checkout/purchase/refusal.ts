import * as say from '#lib/i18n/messages.js';
import type { PaymentState, PurchaseWords, StatusWords } from './state.ts';

type Refusal = (words: PurchaseWords) => StatusWords;

/** An operator's final no, for each reason that the API tells. In all of them no money left. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
	payer_rejected: () => ({
		title: say.purchase_refused_payer_rejected_title(),
		text: say.purchase_refused_payer_rejected_text(),
		next: say.purchase_refused_payer_rejected_next()
	}),
	insufficient_funds: () => ({
		title: say.purchase_refused_insufficient_funds_title(),
		text: say.purchase_refused_insufficient_funds_text(),
		next: say.purchase_refused_insufficient_funds_next()
	}),
	payer_not_found: ({ number }) => ({
		title: say.purchase_refused_payer_not_found_title(),
		text: say.purchase_refused_payer_not_found_text({ number }),
		next: say.purchase_refused_payer_not_found_next()
	}),
	payer_limit_reached: () => ({
		title: say.purchase_refused_payer_limit_reached_title(),
		text: say.purchase_refused_payer_limit_reached_text(),
		next: say.purchase_refused_payer_limit_reached_next()
	}),
	payer_timeout: () => ({
		title: say.purchase_refused_payer_timeout_title(),
		text: say.purchase_refused_payer_timeout_text(),
		next: say.purchase_refused_payer_timeout_next()
	}),
	provider_unavailable: () => ({
		title: say.purchase_refused_provider_unavailable_title(),
		text: say.purchase_refused_provider_unavailable_text(),
		next: say.purchase_refused_provider_unavailable_next()
	}),
	provider_error: () => ({
		title: say.purchase_refused_provider_error_title(),
		text: say.purchase_refused_provider_error_text(),
		next: say.purchase_refused_provider_error_next()
	})
};

/** A reason that this version does not know. */
const otherRefusal: Refusal = () => ({
	title: say.purchase_refused_other_title(),
	text: say.purchase_refused_other_text(),
	next: say.purchase_refused_other_next()
});

export const refusal = (code: string | null, words: PurchaseWords): StatusWords =>
	(REFUSALS[code ?? ''] ?? otherRefusal)(words);

/**
 * The operator's final no. An expired payment that learned its reason later is one too; `payer_timeout` on an
 * expired payment only means that nobody answered in time, so there the money's fate is unknown.
 */
export function isRefused(payment: PaymentState): boolean {
	if (payment.status === 'failed') return true;
	return (
		payment.status === 'expired' && payment.failure_code !== null && payment.failure_code !== 'payer_timeout'
	);
}

export const refusedKind = (payment: PaymentState) => `refused-${payment.failure_code ?? 'unknown'}`;
