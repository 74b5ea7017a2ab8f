import * as m from '#lib/i18n/messages.js';
import type { PaymentState, PurchaseWords, StatusWords } from './state.ts';

type Refusal = (words: PurchaseWords) => StatusWords;

/** An operator's final refusal, by the API's reason. The payer was not charged in any of them. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
	payer_rejected: () => ({
		title: m.purchase_refused_payer_rejected_title(),
		text: m.router_nothing_taken(),
		next: m.purchase_refused_payer_rejected_next()
	}),
	insufficient_funds: () => ({
		title: m.purchase_refused_insufficient_funds_title(),
		text: m.router_nothing_taken(),
		next: m.purchase_refused_insufficient_funds_next()
	}),
	payer_not_found: ({ number }) => ({
		title: m.purchase_refused_payer_not_found_title(),
		text: m.purchase_refused_payer_not_found_text({ number }),
		next: m.purchase_refused_payer_not_found_next()
	}),
	payer_limit_reached: () => ({
		title: m.purchase_refused_payer_limit_reached_title(),
		text: m.purchase_refused_payer_limit_reached_text(),
		next: m.purchase_refused_payer_limit_reached_next()
	}),
	payer_timeout: () => ({
		title: m.purchase_refused_payer_timeout_title(),
		text: m.purchase_refused_payer_timeout_text(),
		next: m.purchase_refused_payer_timeout_next()
	}),
	provider_unavailable: () => ({
		title: m.purchase_refused_provider_unavailable_title(),
		text: m.purchase_refused_provider_unavailable_text(),
		next: m.purchase_refused_provider_unavailable_next()
	}),
	provider_error: () => ({
		title: m.purchase_refused_provider_error_title(),
		text: m.purchase_refused_provider_error_text(),
		next: m.purchase_refused_provider_error_next()
	})
};

const otherRefusal: Refusal = () => ({
	title: m.purchase_refused_other_title(),
	text: m.purchase_refused_other_text(),
	next: m.purchase_refused_other_next()
});

export const refusal = (code: string | null, words: PurchaseWords): StatusWords =>
	(REFUSALS[code ?? ''] ?? otherRefusal)(words);

/** An expired payment with a reason counts, except for `payer_timeout`: its result is unknown. */
export function isRefused(payment: PaymentState): boolean {
	if (payment.status === 'failed') return true;
	return (
		payment.status === 'expired' && payment.failure_code !== null && payment.failure_code !== 'payer_timeout'
	);
}

export const refusedKind = (payment: PaymentState) => `refused-${payment.failure_code ?? 'unknown'}`;
