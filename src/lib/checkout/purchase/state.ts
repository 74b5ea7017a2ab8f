import * as m from '#lib/i18n/messages.js';
import { isApplied, refund } from './refund.ts';
import { isRefused, refusal, refusedKind } from './refusal.ts';
import { SLOW_SECONDS, SOON_SECONDS, waitingRefreshSeconds } from './seconds.ts';

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
	/**
	 * `retry`: pay again in this page's form. `wait-or-retry`: the same, only if the buyer asks. `renew`: that
	 * form makes a new purchase. `buy`: choose again.
	 */
	action: 'none' | 'retry' | 'wait-or-retry' | 'renew' | 'buy';
	/** The state can change without the buyer. */
	polls: boolean;
	/** Seconds until a page without script reloads; null if a reload would disturb. */
	refreshSeconds: number | null;
}

type StateFields = StatusWords & { kind: string } & Partial<PurchaseState>;

/** Unless stated otherwise, nothing changes without the buyer, who may choose again. */
const state = (fields: StateFields): PurchaseState => ({
	tone: 'plain',
	note: null,
	action: 'buy',
	polls: false,
	refreshSeconds: null,
	...fields
});

/** The state may change within minutes, without the buyer. */
const CHANGES = { polls: true, refreshSeconds: SLOW_SECONDS };

const buyNext = (kind: string, title: string, text: string): StateFields => {
	return { kind, title, text, next: m.purchase_buy_next() };
};

/** @param payment the newest payment; null if none was started @param now the server's time */
export function purchaseState(
	session: SessionState,
	payment: PaymentState | null,
	words: PurchaseWords,
	now: Date
): PurchaseState {
	switch (session.status) {
		case 'pending_payment':
			return isApplied(payment) ? gettingReady(words) : whileUnpaid(payment, words, now);
		case 'activating':
			return { ...gettingReady(words), note: refund(payment, words)?.text ?? null };
		case 'active':
			return whileActive(session, payment, words);
		case 'expired':
		case 'ended':
			return whileOver(session, payment, words);
		case 'cancelled':
			return isApplied(payment) ? gettingReady(words) : whileCancelled(session, payment, words);
		default:
			return state({
				kind: `other-${session.status}`,
				tone: 'notice',
				title: m.purchase_other_title(),
				text: m.purchase_other_text({ money: words.amount }),
				next: m.purchase_other_next(),
				action: 'none',
				...CHANGES
			});
	}
}

const gettingReady = ({ amount: money }: PurchaseWords): PurchaseState =>
	state({
		kind: 'getting-ready',
		tone: 'good',
		title: m.purchase_ready_title(),
		text: m.purchase_ready_text({ money }),
		next: m.purchase_ready_next(),
		action: 'none',
		polls: true,
		refreshSeconds: SOON_SECONDS
	});

function whileUnpaid(payment: PaymentState | null, words: PurchaseWords, now: Date): PurchaseState {
	const { amount: money, method } = words;
	if (!payment) {
		return state({
			kind: 'not-asked',
			tone: 'notice',
			title: m.purchase_not_asked_title(),
			text: m.purchase_not_asked_text(),
			next: m.purchase_not_asked_next({ money }),
			action: 'retry',
			polls: true
		});
	}
	if (payment.status === 'pending') {
		const ageSeconds = Math.max(0, (now.getTime() - Date.parse(payment.created_at)) / 1000);
		return state({
			kind: 'waiting',
			title: m.purchase_waiting_title(),
			text: m.purchase_waiting_text({ method, money }),
			next: m.purchase_may_close(),
			action: 'none',
			polls: true,
			refreshSeconds: waitingRefreshSeconds(ageSeconds)
		});
	}
	const back = goingBack(payment, words);
	if (back) return { ...back, kind: `${payment.status}-payable`, action: 'wait-or-retry' };
	if (isRefused(payment)) {
		return state({
			kind: refusedKind(payment),
			tone: 'bad',
			...refusal(payment.failure_code, words),
			action: 'retry',
			// An operator may correct its result, and then the time starts.
			polls: true
		});
	}
	return state({
		kind: 'unknown',
		tone: 'notice',
		title: m.purchase_unknown_title({ method }),
		text: m.purchase_unknown_text(),
		next: m.purchase_unknown_next(),
		action: 'wait-or-retry',
		...CHANGES
	});
}

/** A refund is the main thing while no time was bought. */
function goingBack(payment: PaymentState | null, words: PurchaseWords): PurchaseState | null {
	const back = refund(payment, words);
	if (!back || !payment) return null;
	const { changes, ...fields } = back;
	const tone = payment.status === 'refund_failed' ? 'bad' : 'notice';
	return state({ kind: payment.status, tone, ...fields, ...(changes && CHANGES) });
}

/** A cancelled purchase takes no new payment, but an earlier one may still succeed. */
function whileCancelled(
	{ status_reason: reason }: SessionState,
	payment: PaymentState | null,
	words: PurchaseWords
): PurchaseState {
	const back = goingBack(payment, words);
	if (back) return back;
	const isOpen = payment !== null && !isRefused(payment);
	if (reason === 'client_cancelled') {
		const [kind, text] = isOpen
			? ['cancelled-open', m.purchase_cancelled_open_text()]
			: ['cancelled', m.router_nothing_taken()];
		return state({ ...buyNext(kind, m.purchase_cancelled_title(), text), ...(isOpen && CHANGES) });
	}
	if (reason === 'provisioning_failed') {
		const { amount: money, number } = words;
		return state({
			kind: 'not-opened',
			tone: 'bad',
			title: m.purchase_not_opened_title(),
			text: isOpen ? m.purchase_not_opened_open_text({ money, number }) : m.purchase_not_opened_text(),
			next: m.purchase_not_opened_next(),
			...CHANGES
		});
	}
	if (isOpen) {
		return state({
			kind: 'unknown-late',
			tone: 'notice',
			title: m.purchase_unknown_title({ method: words.method }),
			text: m.purchase_late_text(),
			next: m.purchase_late_next(),
			...CHANGES
		});
	}
	if (payment) {
		const fields = refusal(payment.failure_code, words);
		return state({ kind: `${refusedKind(payment)}-closed`, tone: 'bad', ...fields, action: 'renew' });
	}
	if (reason === 'payment_timeout') {
		const fields = buyNext('timed-out', m.purchase_timed_out_title(), m.purchase_timed_out_text());
		return state({ ...fields, action: 'renew' });
	}
	return state(buyNext('closed', m.purchase_closed_title(), m.purchase_closed_text()));
}

function whileActive(
	{ isExtra, access }: SessionState,
	payment: PaymentState | null,
	words: PurchaseWords
): PurchaseState {
	const { until } = words;
	const titleOf = isExtra ? m.purchase_extra_title : m.purchase_active_title;
	const textOf = HOW_TO[access?.kind ?? ''] ?? m.purchase_active_text;
	return state({
		kind: isExtra ? 'extra' : 'active',
		tone: 'good',
		title: until === null ? m.purchase_ready_title() : titleOf({ until }),
		text: textOf(words),
		next: m.purchase_active_next(words),
		action: 'none',
		note: refund(payment, words)?.text ?? null
	});
}

/** By access kind. WPA2-Enterprise asks for the username while the phone connects. */
const HOW_TO: Readonly<Record<string, (words: { ssid: string }) => string>> = {
	portal_login: m.purchase_active_sign_in,
	wpa_enterprise: m.purchase_active_user
};

type TextOf = (words: { ssid: string }) => string;

function whileOver(session: SessionState, payment: PaymentState | null, words: PurchaseWords): PurchaseState {
	const fields = session.status === 'expired' ? expired(words) : ended(session.status_reason, words);
	const back = refund(payment, words);
	if (!back || !payment) return state(fields);
	const kind = `${fields.kind}-${payment.status}`;
	return state({ ...fields, kind, note: `${back.text} ${back.next}`, ...(back.changes && CHANGES) });
}

function expired({ until, ssid }: PurchaseWords): StateFields {
	const text = until === null ? m.purchase_ended_text({ ssid }) : m.purchase_over_text({ until });
	return { kind: 'over', title: m.purchase_over_title(), text, next: m.purchase_over_next() };
}

function ended(reason: string | null, words: PurchaseWords): StateFields {
	const { data: limit } = words;
	if (reason === 'data_limit_reached' && limit !== null) {
		return {
			kind: 'ended-data',
			title: m.purchase_data_over_title({ limit }),
			text: m.purchase_data_over_text(),
			next: m.purchase_over_next()
		};
	}
	const [kind, title, text] = WHY_ENDED[reason ?? ''] ?? ENDED;
	return buyNext(kind, title(), text(words));
}

const ENDED = ['ended', m.purchase_ended_title, m.purchase_ended_text] as const;
const WHY_ENDED: Readonly<Record<string, readonly [kind: string, title: () => string, text: TextOf]>> = {
	client_ended: ['ended-client', m.purchase_ended_client_title, m.purchase_ended_client_text],
	admin_ended: ['ended-admin', m.purchase_ended_admin_title, m.purchase_ended_admin_text],
	refunded: ['ended-refunded', m.purchase_ended_refunded_title, m.purchase_ended_refunded_text]
};
