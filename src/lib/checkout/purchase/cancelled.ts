import * as m from '#lib/i18n/messages.js';
import { refund, refundChanges } from './refund.ts';
import { isRefused, refusal, refusedKind } from './refusal.ts';
import { reloads } from './seconds.ts';
import {
	gettingReady,
	type PaymentState,
	type PurchaseState,
	type PurchaseWords,
	type SessionState
} from './state.ts';

/** Describes a cancelled purchase. It takes no new payment, but an earlier one may still succeed. */
export function whileCancelled(
	session: SessionState,
	payment: PaymentState | null,
	words: PurchaseWords
): PurchaseState {
	if (payment?.status === 'success' && payment.applied) return gettingReady(words);
	const back = refund(payment, words);
	if (back && payment) {
		return {
			kind: payment.status,
			tone: payment.status === 'refund_failed' ? 'bad' : 'notice',
			...back,
			action: 'buy',
			...reloads(refundChanges(payment))
		};
	}
	const open = payment !== null && !isRefused(payment);
	if (session.status_reason === 'client_cancelled') return cancelledByBuyer(open);
	if (session.status_reason === 'provisioning_failed') {
		return {
			kind: 'not-opened',
			tone: 'bad',
			title: m.purchase_not_opened_title(),
			text: open
				? m.purchase_not_opened_open_text({ money: words.amount, number: words.number })
				: m.purchase_not_opened_text(),
			next: m.purchase_not_opened_next(),
			action: 'buy',
			...reloads(true)
		};
	}
	if (open) {
		return {
			kind: 'unknown-late',
			tone: 'notice',
			title: m.purchase_unknown_title({ method: words.method }),
			text: m.purchase_late_text(),
			next: m.purchase_late_next(),
			action: 'buy',
			...reloads(true)
		};
	}
	if (payment) {
		return {
			kind: `${refusedKind(payment)}-closed`,
			tone: 'bad',
			...refusal(payment.failure_code, words),
			action: 'renew',
			...reloads(false)
		};
	}
	const timedOut = session.status_reason === 'payment_timeout';
	return {
		kind: timedOut ? 'timed-out' : 'closed',
		tone: 'plain',
		title: timedOut ? m.purchase_timed_out_title() : m.purchase_closed_title(),
		text: timedOut ? m.purchase_timed_out_text() : m.purchase_closed_text(),
		next: m.purchase_buy_next(),
		action: timedOut ? 'renew' : 'buy',
		...reloads(false)
	};
}

function cancelledByBuyer(open: boolean): PurchaseState {
	return {
		kind: open ? 'cancelled-open' : 'cancelled',
		tone: 'plain',
		title: m.purchase_cancelled_title(),
		text: open ? m.purchase_cancelled_open_text() : m.purchase_cancelled_text(),
		next: m.purchase_buy_next(),
		action: 'buy',
		...reloads(open)
	};
}
