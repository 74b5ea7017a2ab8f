import * as m from '#lib/i18n/messages.js';
import { whileActive, whileEnded, whileExpired } from './over.ts';
import { refund, refundChanges } from './refund.ts';
import { refusal, isRefused, refusedKind } from './refusal.ts';
import { reloads, SOON_SECONDS, waitingRefreshSeconds } from './seconds.ts';
import { whileCancelled } from './cancelled.ts';

/**
 * Describes a purchase to its buyer from the states of the wire format (sections 1 and 2).
 * Rules: never "failed" while the result is unknown; always the money; always a next step. Unknown values get
 * a sentence that is always true.
 */

export interface SessionState {
	/** pending_payment, activating, active, expired, ended, cancelled */
	status: string;
	status_reason: string | null;
	expires_at: string | null;
	/** Its own time has ended, and extra time runs until `expires_at`. */
	isExtra?: boolean;
	/** Kind of access; the Wi-Fi's own password if missing. */
	access?: { kind: string };
}

export interface PaymentState {
	/** pending, success, failed, expired, refund_pending, refunded, refund_failed */
	status: string;
	applied: boolean;
	failure_code: string | null;
	refund_reason: string | null;
	created_at: string;
}

export interface PurchaseWords {
	/** "UGX 1,000": the requested amount. */
	amount: string;
	/** The amount that the operator took and that is refunded; usually the requested one. */
	taken: string;
	/** "0772 ••• 456": the payer's number. */
	number: string;
	/** "MTN MoMo", or "mobile-money" while the operator is unknown. */
	method: string;
	ssid: string;
	/** "16:40"; null unless the time is running. */
	until: string | null;
	/** "20 GB": the data limit of the pass; null without one. */
	data: string | null;
	/** "K7MQ-29XT" */
	code: string;
}

/**
 * `retry`: pay again in this page's form. `wait-or-retry`: the same, only if the buyer asks. `renew`: that
 * form makes a new purchase. `buy`: choose again.
 */
type PurchaseAction = 'none' | 'retry' | 'wait-or-retry' | 'renew' | 'buy';

export interface StatusWords {
	title: string;
	text: string;
	next: string;
}

export interface PurchaseState extends StatusWords {
	/** Changes whenever the page has something new to show. */
	kind: string;
	tone: 'plain' | 'good' | 'notice' | 'bad';
	/** About the refund of an additional payment. */
	note: string | null;
	action: PurchaseAction;
	/** The state can change without the buyer. */
	polls: boolean;
	/** Seconds until a page without script reloads; null if a reload would disturb. */
	refreshSeconds: number | null;
}

const secondsSince = (moment: string, now: Date) =>
	Math.max(0, (now.getTime() - new Date(moment).getTime()) / 1000);

function whileUnpaid(payment: PaymentState | null, words: PurchaseWords, now: Date): PurchaseState {
	if (!payment) {
		return {
			kind: 'not-asked',
			tone: 'notice',
			title: m.purchase_not_asked_title(),
			text: m.purchase_not_asked_text(),
			next: m.purchase_not_asked_next({ money: words.amount }),
			note: null,
			action: 'retry',
			polls: true,
			refreshSeconds: null
		};
	}
	if (payment.status === 'pending') {
		return {
			kind: 'waiting',
			tone: 'plain',
			title: m.purchase_waiting_title(),
			text: m.purchase_waiting_text({ method: words.method, money: words.amount }),
			next: m.purchase_may_close(),
			note: null,
			action: 'none',
			polls: true,
			refreshSeconds: waitingRefreshSeconds(secondsSince(payment.created_at, now))
		};
	}
	if (payment.status === 'success' && payment.applied) return gettingReady(words);
	const back = refund(payment, words);
	if (back) {
		return {
			kind: `${payment.status}-payable`,
			tone: payment.status === 'refund_failed' ? 'bad' : 'notice',
			...back,
			action: 'wait-or-retry',
			...reloads(refundChanges(payment))
		};
	}
	if (isRefused(payment)) {
		return {
			kind: refusedKind(payment),
			tone: 'bad',
			...refusal(payment.failure_code, words),
			note: null,
			action: 'retry',
			// An operator may correct its result, and then the time starts.
			polls: true,
			refreshSeconds: null
		};
	}
	return {
		kind: 'unknown',
		tone: 'notice',
		title: m.purchase_unknown_title({ method: words.method }),
		text: m.purchase_unknown_text(),
		next: m.purchase_unknown_next(),
		action: 'wait-or-retry',
		...reloads(true)
	};
}

export function gettingReady(words: PurchaseWords): PurchaseState {
	return {
		kind: 'getting-ready',
		tone: 'good',
		title: m.purchase_ready_title(),
		text: m.purchase_ready_text({ money: words.amount }),
		next: m.purchase_ready_next(),
		note: null,
		action: 'none',
		polls: true,
		refreshSeconds: SOON_SECONDS
	};
}

/** @param payment the newest payment; null if none was started @param now the server's time */
export function purchaseState(
	session: SessionState,
	payment: PaymentState | null,
	words: PurchaseWords,
	now: Date
): PurchaseState {
	switch (session.status) {
		case 'pending_payment':
			return whileUnpaid(payment, words, now);
		case 'activating':
			return { ...gettingReady(words), note: refund(payment, words)?.text ?? null };
		case 'active':
			return whileActive(session, payment, words);
		case 'expired':
			return whileExpired(payment, words);
		case 'ended':
			return whileEnded(session, payment, words);
		case 'cancelled':
			return whileCancelled(session, payment, words);
		default:
			return {
				kind: `other-${session.status}`,
				tone: 'notice',
				title: m.purchase_other_title(),
				text: m.purchase_other_text({ money: words.amount }),
				next: m.purchase_other_next(),
				action: 'none',
				...reloads(true)
			};
	}
}
