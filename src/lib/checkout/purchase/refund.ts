import * as m from '#lib/i18n/messages.js';
import type { PaymentState, PurchaseWords, StatusWords } from './state.ts';

type MoneyWords = Pick<PurchaseWords, 'amount' | 'taken' | 'number'>;

const WHY: Readonly<Record<string, (words: { taken: string; money: string }) => string>> = {
	duplicate_payment: () => m.purchase_why_duplicate_payment(),
	session_cancelled: () => m.purchase_why_session_cancelled(),
	late_payment: () => m.purchase_why_late_payment(),
	provisioning_failed: () => m.purchase_why_provisioning_failed(),
	amount_mismatch: (words) => m.purchase_why_amount_mismatch(words),
	admin: () => m.purchase_why_admin()
};

export const sentences = (...texts: string[]): string => texts.join(' ');

/** Explains the refund of a payment that bought nothing. Returns null if there is none. */
export function refund(
	payment: PaymentState | null,
	{ amount, taken, number }: MoneyWords
): StatusWords | null {
	if (!payment || (payment.status === 'success' && payment.applied)) return null;
	const why = (WHY[payment.refund_reason ?? ''] ?? m.purchase_why_other)({ taken, money: amount });
	const where = (sum: typeof m.purchase_refunded_sum) => sentences(why, sum({ money: taken, number }));
	switch (payment.status) {
		case 'success':
		case 'refund_pending':
			return {
				title: m.purchase_refund_pending_title(),
				text: where(m.purchase_refund_pending_sum),
				next:
					payment.status === 'success' ? m.purchase_refund_begins_next() : m.purchase_refund_pending_next()
			};
		case 'refunded':
			return {
				title: m.purchase_refunded_title(),
				text: where(
					payment.refund_reason === 'admin' ? m.purchase_refunded_venue_sum : m.purchase_refunded_sum
				),
				next: m.purchase_refunded_next()
			};
		case 'refund_failed':
			return {
				title: m.purchase_refund_failed_title(),
				text: where(m.purchase_refund_failed_sum),
				next: m.purchase_refund_failed_next()
			};
		default:
			return null;
	}
}

/** Explains the refund of an additional payment for the same purchase. Returns null if there is none. */
export function refundNote(payment: PaymentState, words: MoneyWords): string | null {
	const back = refund(payment, words);
	return back && sentences(back.text, back.next);
}

export const refundChanges = (payment: PaymentState) =>
	payment.status === 'success' || payment.status === 'refund_pending';
