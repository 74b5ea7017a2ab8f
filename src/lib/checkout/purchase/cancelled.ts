import * as say from '#lib/i18n/messages.js';
import { refund, refundChanges } from './refund.ts';
import { isRefused, refusal, refusedKind } from './refusal.ts';
import { SLOW_SECONDS } from './seconds.ts';
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
			note: null,
			action: 'buy',
			polls: refundChanges(payment),
			refreshSeconds: refundChanges(payment) ? SLOW_SECONDS : null
		};
	}
	const open = payment !== null && !isRefused(payment);
	if (session.status_reason === 'client_cancelled') return cancelledByBuyer(open);
	if (session.status_reason === 'provisioning_failed') {
		return {
			kind: 'not-opened',
			tone: 'bad',
			title: say.purchase_not_opened_title(),
			text: open
				? say.purchase_not_opened_open_text({ money: words.amount, number: words.number })
				: say.purchase_not_opened_text(),
			next: say.purchase_not_opened_next(),
			note: null,
			action: 'buy',
			polls: true,
			refreshSeconds: SLOW_SECONDS
		};
	}
	if (open) {
		return {
			kind: 'unknown-late',
			tone: 'notice',
			title: say.purchase_unknown_title({ network: words.network }),
			text: say.purchase_late_text(),
			next: say.purchase_late_next(),
			note: null,
			action: 'buy',
			polls: true,
			refreshSeconds: SLOW_SECONDS
		};
	}
	if (payment) {
		return {
			kind: `${refusedKind(payment)}-closed`,
			tone: 'bad',
			...refusal(payment.failure_code, words),
			note: null,
			action: 'renew',
			polls: false,
			refreshSeconds: null
		};
	}
	const timedOut = session.status_reason === 'payment_timeout';
	return {
		kind: timedOut ? 'timed-out' : 'closed',
		tone: 'plain',
		title: timedOut ? say.purchase_timed_out_title() : say.purchase_closed_title(),
		text: timedOut ? say.purchase_timed_out_text() : say.purchase_closed_text(),
		next: say.purchase_buy_next(),
		note: null,
		action: timedOut ? 'renew' : 'buy',
		polls: false,
		refreshSeconds: null
	};
}

function cancelledByBuyer(open: boolean): PurchaseState {
	return {
		kind: open ? 'cancelled-open' : 'cancelled',
		tone: 'plain',
		title: say.purchase_cancelled_title(),
		text: open ? say.purchase_cancelled_open_text() : say.purchase_cancelled_text(),
		next: say.purchase_buy_next(),
		note: null,
		action: 'buy',
		polls: open,
		refreshSeconds: open ? SLOW_SECONDS : null
	};
}
