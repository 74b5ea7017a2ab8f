import * as say from '#lib/i18n/messages.js';
import type { PaymentState, PurchaseWords, StatusWords } from './state.ts';

type MoneyWords = Pick<PurchaseWords, 'amount' | 'taken' | 'number'>;

const WHY: Readonly<Record<string, (words: { taken: string; money: string }) => string>> = {
	duplicate_payment: () => say.purchase_why_duplicate_payment(),
	session_cancelled: () => say.purchase_why_session_cancelled(),
	late_payment: () => say.purchase_why_late_payment(),
	provisioning_failed: () => say.purchase_why_provisioning_failed(),
	amount_mismatch: (words) => say.purchase_why_amount_mismatch(words),
	admin: () => say.purchase_why_admin()
};

export const sentences = (...texts: string[]): string => texts.join(' ');

/** Explains the refund of a payment that bought nothing. Returns null if there is none. */
export function refund(
	payment: PaymentState | null,
	{ amount, taken, number }: MoneyWords
): StatusWords | null {
	if (!payment || (payment.status === 'success' && payment.applied)) return null;
	const why = (WHY[payment.refund_reason ?? ''] ?? say.purchase_why_other)({ taken, money: amount });
	const where = (sum: typeof say.purchase_refunded_sum) => sentences(why, sum({ money: taken, number }));
	switch (payment.status) {
		case 'success':
		case 'refund_pending':
			return {
				title: say.purchase_refund_pending_title(),
				text: where(say.purchase_refund_pending_sum),
				next:
					payment.status === 'success'
						? say.purchase_refund_begins_next()
						: say.purchase_refund_pending_next()
			};
		case 'refunded':
			return {
				title: say.purchase_refunded_title(),
				text: where(say.purchase_refunded_sum),
				next: say.purchase_refunded_next()
			};
		case 'refund_failed':
			return {
				title: say.purchase_refund_failed_title(),
				text: where(say.purchase_refund_failed_sum),
				next: say.purchase_refund_failed_next()
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
