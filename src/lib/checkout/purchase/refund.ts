import * as m from '#lib/i18n/messages.js';
import type { PaymentState, PurchaseWords, StatusWords } from './state.ts';

type MoneyWords = Pick<PurchaseWords, 'amount' | 'taken' | 'number'>;

const WHY: Readonly<Record<string, (words: { taken: string; money: string }) => string>> = {
	duplicate_payment: m.purchase_why_duplicate_payment,
	session_cancelled: m.purchase_why_session_cancelled,
	late_payment: m.purchase_why_late_payment,
	provisioning_failed: m.purchase_why_provisioning_failed,
	amount_mismatch: m.purchase_why_amount_mismatch,
	admin: m.purchase_why_admin
};

type Stage = readonly [
	title: () => string,
	sum: (words: { money: string; number: string }) => string,
	next: () => string
];

/** By status of a payment that bought nothing. */
const STAGES: Readonly<Record<string, Stage>> = {
	success: [m.purchase_refund_pending_title, m.purchase_refund_pending_sum, m.purchase_refund_begins_next],
	refund_pending: [
		m.purchase_refund_pending_title,
		m.purchase_refund_pending_sum,
		m.purchase_refund_pending_next
	],
	refunded: [m.purchase_refunded_title, m.purchase_refunded_sum, m.purchase_refunded_next],
	refund_failed: [m.purchase_refund_failed_title, m.purchase_refund_failed_sum, m.purchase_refund_failed_next]
};

/** True if the payment bought the time. */
export const isApplied = (payment: PaymentState | null): boolean =>
	payment?.status === 'success' && payment.applied;

/** Explains the refund of a payment that bought nothing. Returns null if there is none. */
export function refund(
	payment: PaymentState | null,
	{ amount, taken, number }: MoneyWords
): (StatusWords & { changes: boolean }) | null {
	const stage = STAGES[payment?.status ?? ''];
	if (!payment || !stage || isApplied(payment)) return null;
	const { status, refund_reason: reason } = payment;
	const [title, sum, next] = stage;
	const why = (WHY[reason ?? ''] ?? m.purchase_why_other)({ taken, money: amount });
	const sumOf = status === 'refunded' && reason === 'admin' ? m.purchase_refunded_venue_sum : sum;
	return {
		title: title(),
		text: `${why} ${sumOf({ money: taken, number })}`,
		next: next(),
		changes: status === 'success' || status === 'refund_pending'
	};
}

/** Explains the refund of an additional payment for the same purchase. Returns null if there is none. */
export function refundNote(payment: PaymentState, words: MoneyWords): string | null {
	const back = refund(payment, words);
	return back && `${back.text} ${back.next}`;
}
