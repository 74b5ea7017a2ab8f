import * as m from '#lib/i18n/messages.js';
import { formatDataLimit } from './quote.ts';
import { apart } from '#lib/i18n/intl.ts';
import { formatMoney } from '../domain/money.ts';
import { formatMobile, hideMiddle } from '../domain/phone.ts';
import { methodName, operatorName } from '../format/words.ts';
import { VOUCHER_METHOD, VOUCHER_RESTORED, isRefused, resolveMethod } from '../domain/payment-methods.ts';

/**
 * Describes a purchase to its buyer from the states of the API.
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
	/** Mobile money if missing. */
	payment_method?: string;
}

export interface PaymentState {
	/** pending, success, failed, expired, refund_pending, refunded, refund_failed */
	status: string;
	applied: boolean;
	failure_code: string | null;
	refund_reason: string | null;
	/** unsent, unanswered, accepted, refused; missing at an older API. */
	operator_request?: string;
	/** Mobile money if missing. */
	payment_method?: string;
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
	/** The same as the subject of a sentence: "MTN MoMo", or "Your operator". */
	operator: string;
	ssid: string;
	/** "16:40"; null unless the time is running. */
	until: string | null;
	/** "20 GB": the data limit of the pass; null without one. */
	data: string | null;
	/** "K7MQ-29XT" */
	code: string;
}

/** The fields of a session or payment of the API that its words name. */
interface OrderFields {
	amount: number;
	currency: string;
	phone: string;
	payment_method: string;
	/** Of a payment with a refund: what the operator took. */
	refund_amount?: number | null;
	refund_currency?: string | null;
}

/** Formats the amount that the operator took: a refund's may differ from the price. */
export const formatTaken = ({ amount, currency, refund_amount, refund_currency }: OrderFields): string =>
	formatMoney(refund_amount ?? amount, refund_currency ?? currency);

export function listMoneyWords(order: OrderFields): MoneyWords {
	const name = operatorName(order.payment_method, order.phone);
	return {
		amount: formatMoney(order.amount, order.currency),
		taken: formatTaken(order),
		number: hideMiddle(formatMobile(order.phone)),
		operator: name === null ? m.purchase_operator_unknown() : m.purchase_operator({ name: apart(name) })
	};
}

/** Lists the words of an order. @param more those that it does not tell itself */
export function listWords(
	{ session, payment }: { session: OrderFields & { ssid: string }; payment: OrderFields | null },
	more: Partial<Pick<PurchaseWords, 'until' | 'data' | 'code'>> = {}
): PurchaseWords {
	const order = payment ?? session;
	return {
		...listMoneyWords(order),
		method: methodName(order.payment_method, order.phone),
		ssid: apart(session.ssid),
		...{ until: null, data: null, code: '' },
		...more
	};
}

interface StatusWords {
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

/** Refresh of a page without script if a result may take minutes. */
export const SLOW_SECONDS = 30;
/** Refresh of a page without script if a result is due within seconds. */
export const SOON_SECONDS = 3;

/** Refresh of a page without script: fast while the buyer types the PIN, slower later. */
function waitingRefreshSeconds(ageSeconds: number): number {
	if (ageSeconds < 60) return 3;
	if (ageSeconds < 3 * 60) return 5;
	return 10;
}

const WARN_SECONDS = 10 * 60;
const WARN_SHARE = 0.1;
const LEAST_WARN_SECONDS = 2 * 60;

/** Ten minutes; a tenth of a short pass, but at least two minutes to pay. */
export const computeWarnSeconds = (totalSeconds: number): number =>
	Math.min(WARN_SECONDS, Math.max(LEAST_WARN_SECONDS, WARN_SHARE * totalSeconds));

const HINT_AFTER_SECONDS = 30;

/** The API's limit. */
const HOLD_SECONDS = 20;
/** A wait ends with the result of a payment only, so a shorter one looks for the operator's answer. */
const UNANSWERED_SECONDS = 6;

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
export const CHANGES = { polls: true, refreshSeconds: SLOW_SECONDS };

const buyNext = (kind: string, title: string, text: string): StateFields => {
	return { kind, title, text, next: m.purchase_buy_next() };
};

/** @param payment the newest payment; null if none was started @param now the server's time */
export function describeState(
	session: SessionState,
	payment: PaymentState | null,
	words: PurchaseWords,
	now: Date
): PurchaseState {
	switch (session.status) {
		case 'pending_payment':
			return isApplied(payment) ? gettingReady(session, words) : whileUnpaid(payment, words, now);
		case 'activating':
			return { ...gettingReady(session, words), note: describeRefund(payment, words)?.text ?? null };
		case 'active':
			return whileActive(session, payment, words);
		case 'expired':
		case 'ended':
			return whileOver(session, payment, words);
		case 'cancelled':
			return isApplied(payment) ? gettingReady(session, words) : whileCancelled(session, payment, words);
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

const gettingReady = (
	{ payment_method: method }: SessionState,
	{ amount: money }: PurchaseWords
): PurchaseState =>
	state({
		kind: 'getting-ready',
		tone: 'good',
		title: m.purchase_ready_title(),
		text: m.purchase_ready_text({ money }),
		next: method === VOUCHER_METHOD ? m.purchase_ready_voucher() : m.purchase_ready_next(),
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
			...describePending(payment, words, ageSeconds),
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
			...describeRefusal(payment.failure_code, words),
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

/** Most operators answer a request faster. */
const ANSWER_SECONDS = 5;

/** The phone shows nothing before the operator has the request. */
const isLate = (request: string | undefined, ageSeconds: number): boolean =>
	(request === 'unsent' || request === 'unanswered') && ageSeconds >= ANSWER_SECONDS;

function describePending(
	{ operator_request: request }: PaymentState,
	{ amount: money, method }: PurchaseWords,
	ageSeconds: number
): Pick<PurchaseState, 'kind' | 'title' | 'text'> {
	const [kind, title, text] = !isLate(request, ageSeconds)
		? ['waiting', m.purchase_waiting_title(), m.purchase_waiting_text({ method, money })]
		: request === 'unsent'
			? ['unsent', m.purchase_unsent_title({ method }), m.purchase_unsent_text()]
			: ['unanswered', m.purchase_unanswered_title({ method }), m.purchase_unanswered_text({ money })];
	return { kind, title, text };
}

/** A refund is the main thing while no time was bought. */
function goingBack(payment: PaymentState | null, words: PurchaseWords): PurchaseState | null {
	const back = describeRefund(payment, words);
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
		const fields = describeRefusal(payment.failure_code, words);
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
		note: describeRefund(payment, words)?.text ?? null
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
	const back = describeRefund(payment, words);
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

/** Describes time that is being added to an active pass. Returns null once it is added or has ended. */
export function describeAdded(
	session: SessionState,
	payment: PaymentState | null,
	words: PurchaseWords,
	now: Date
): PurchaseState | null {
	if (['active', 'expired', 'ended'].includes(session.status)) return null;
	const state = describeState(session, payment, words, now);
	return { ...state, ...(OF_ADDED[state.kind]?.(words) ?? {}) };
}

const OF_ADDED: Readonly<Record<string, (words: PurchaseWords) => Partial<PurchaseState>>> = {
	waiting: ({ method, amount: money }) => ({
		title: m.purchase_adding_title(),
		text: m.purchase_adding_text({ method, money })
	}),
	unknown: ({ method }) => ({
		title: m.purchase_adding_unknown_title({ method }),
		text: m.purchase_adding_unknown_text(),
		next: m.purchase_adding_unknown_next()
	}),
	'unknown-late': ({ method }) => ({
		title: m.purchase_adding_unknown_title({ method }),
		text: m.purchase_adding_late_text(),
		next: m.purchase_adding_late_next()
	}),
	'getting-ready': ({ amount: money }) => ({
		title: m.purchase_adding_ready_title(),
		text: m.purchase_adding_ready_text({ money }),
		next: m.purchase_adding_ready_next()
	}),
	cancelled: () => ({ title: m.purchase_adding_cancelled_title() }),
	'cancelled-open': () => ({ title: m.purchase_adding_cancelled_title() }),
	'timed-out': () => ({ title: m.purchase_adding_cancelled_title() }),
	closed: () => ({ title: m.purchase_adding_cancelled_title() })
};

type MoneyWords = Pick<PurchaseWords, 'amount' | 'taken' | 'number' | 'operator'>;

const WHY: Readonly<Record<string, (words: { taken: string; money: string; operator: string }) => string>> = {
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
	next: (words: { operator: string }) => string
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
const isApplied = (payment: PaymentState | null): boolean => payment?.status === 'success' && payment.applied;

/** Explains the refund of a payment that bought nothing. Returns null if there is none. */
function describeRefund(
	payment: PaymentState | null,
	{ amount, taken, number, operator }: MoneyWords
): (StatusWords & { changes: boolean }) | null {
	const stage = STAGES[payment?.status ?? ''];
	if (!payment || !stage || isApplied(payment)) return null;
	const { status, refund_reason: reason } = payment;
	if (reason === VOUCHER_RESTORED) {
		return {
			title: m.purchase_voucher_back_title(),
			text: m.purchase_voucher_back_text(),
			next: m.purchase_voucher_back_next(),
			changes: false
		};
	}
	const [title, sum, next] = stage;
	// Cash has no number to which it could go back, and the venue records the refund before it returns the money.
	if (payment.payment_method === VOUCHER_METHOD && reason === 'admin') {
		return {
			title: title(),
			text: m.purchase_refunded_cash({ money: taken }),
			next: m.purchase_refund_failed_next(),
			changes: false
		};
	}
	const why = (WHY[reason ?? ''] ?? m.purchase_why_other)({ taken, money: amount, operator });
	const sumOf = status === 'refunded' && reason === 'admin' ? m.purchase_refunded_venue_sum : sum;
	return {
		title: title(),
		text: `${why} ${sumOf({ money: taken, number })}`,
		next: next({ operator }),
		changes: status === 'success' || status === 'refund_pending'
	};
}

/** Explains the refund of an additional payment for the same purchase. Returns null if there is none. */
export function formatRefund(payment: PaymentState, words: MoneyWords): string | null {
	const back = describeRefund(payment, words);
	return back && `${back.text} ${back.next}`;
}

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
	payer_not_found: ({ number, operator }) => ({
		title: m.purchase_refused_payer_not_found_title(),
		text: m.purchase_refused_payer_not_found_text({ number, operator }),
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
	provider_unavailable: ({ method, operator }) => ({
		title: m.purchase_refused_provider_unavailable_title({ method }),
		text: m.purchase_refused_provider_unavailable_text({ operator }),
		next: m.purchase_refused_provider_unavailable_next()
	}),
	provider_error: ({ operator }) => ({
		title: m.purchase_refused_provider_error_title({ operator }),
		text: m.purchase_refused_provider_error_text(),
		next: m.purchase_refused_provider_error_next()
	})
};

const otherRefusal: Refusal = () => ({
	title: m.purchase_refused_other_title(),
	text: m.purchase_refused_other_text(),
	next: m.purchase_refused_other_next()
});

export const describeRefusal = (code: string | null, words: PurchaseWords): StatusWords =>
	(REFUSALS[code ?? ''] ?? otherRefusal)(words);

const refusedKind = (payment: PaymentState) => `refused-${payment.failure_code ?? 'unknown'}`;

/** The data of a pass, in MB. */
export interface PassData {
	limitMb: number;
	/** null while no gateway has reported any: some report only when a device signs out. */
	leftMb: number | null;
}

/** The page warns when this share of the data is left. */
const DATA_WARN_SHARE = 0.2;
const STEPS = 10;
/** From 1 GB on, the data left is shown in steps of 100 MB, rounded down. */
const SHOWN_STEP_MB = 100;

/** Describes the data left: "12.4 GB of 20 GB left", or "20 GB" if that is unknown. */
export function formatDataLeft({ limitMb, leftMb }: PassData): { text: string; isLow: boolean } {
	if (leftMb === null) return { text: formatDataLimit(limitMb), isLow: false };
	const shownMb = leftMb < 1000 ? leftMb : Math.floor(leftMb / SHOWN_STEP_MB) * SHOWN_STEP_MB;
	return {
		text: m.purchase_data_left({ left: formatDataLimit(shownMb), limit: formatDataLimit(limitMb) }),
		isLow: leftMb <= DATA_WARN_SHARE * limitMb
	};
}

/** Changes with each tenth of the data, so that an open page shows it. */
export const computeDataStep = ({ limitMb, leftMb }: PassData): number | null =>
	leftMb === null ? null : Math.ceil((STEPS * leftMb) / limitMb);

interface OpenPayment {
	amount: number;
	currency: string;
	created_at: string;
	expires_at: string;
	phone: string;
	payment_method: string;
	operator_request?: string;
}

/** Describes the wait for an open payment, for the page and its script. @param now the server's time */
export function describeWait(payment: OpenPayment, now: Date) {
	const requestedAt = Date.parse(payment.created_at);
	const limitSeconds = (Date.parse(payment.expires_at) - requestedAt) / 1000;
	const seconds = Math.min(limitSeconds, Math.max(0, (now.getTime() - requestedAt) / 1000));
	const code = approvalMenu(payment.phone, payment.payment_method);
	const hint =
		code === null ? m.purchase_waiting_hint() : m.purchase_waiting_hint_code({ code: apart(code) });
	return {
		money: formatMoney(payment.amount, payment.currency),
		/** Since the payment was requested. */
		seconds,
		/** How long the page's question for the result may be held: while the operator is late, it asks for both. */
		holdSeconds: isLate(payment.operator_request, seconds) ? UNANSWERED_SECONDS : HOLD_SECONDS,
		/** The payment then expires. */
		limitSeconds,
		/** Until the hint appears. */
		hintSeconds: Math.max(0, Math.ceil(HINT_AFTER_SECONDS - seconds)),
		hint: payment.operator_request === 'unsent' ? null : hint
	};
}

export type Waits = ReturnType<typeof describeWait>;

/** MTN's menus, by country code. They list the payments that wait for approval; other operators have no list. */
const MTN_MENUS: Readonly<Record<string, string>> = {
	'225': '*133#', // Ivory Coast
	'233': '*170#', // Ghana
	'250': '*182*7*1#', // Rwanda
	'256': '*165#', // Uganda
	'260': '*115#' // Zambia
};

/**
 * Returns the code to dial if no prompt appears: "*165#". null if none is known.
 * @param phone E.164 @param method slug of the payment method
 */
export function approvalMenu(phone: string, method: string): string | null {
	return resolveMethod(method, phone) === 'mtn_momo' ? (MTN_MENUS[phone.slice(1, 4)] ?? null) : null;
}
