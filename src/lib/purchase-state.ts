/**
 * What a buyer is told about one purchase, derived from the two state machines of the wire format (sections 1
 * and 2) and nothing else. Three rules decide every sentence: never say "failed" while nobody knows; always say
 * what happened to the money; always give a next step. Values that a later version of the API may add get a
 * sentence that stays true.
 */

export interface SessionState {
	/** pending_payment, activating, active, expired, ended, cancelled */
	status: string;
	status_reason: string | null;
	expires_at: string | null;
}

export interface PaymentState {
	/** pending, success, failed, expired, refund_pending, refunded, refund_failed */
	status: string;
	applied: boolean;
	failure_code: string | null;
	refund_reason: string | null;
	created_at: string;
}

/** Words that the sentences need, already as a buyer reads them. */
export interface PurchaseWords {
	/** "UGX 1,000": what the payment asks for. */
	amount: string;
	/** "0772 ••• 456": the number that pays. */
	number: string;
	/** "MTN MoMo", or "mobile-money" where the network is not known by name. */
	network: string;
	ssid: string;
	/** "16:40"; null while the time does not run. */
	until: string | null;
}

/**
 * `retry`: the same purchase can be paid again, from the form on this page. `wait-or-retry`: so too, but only
 * when the buyer asks for it. `renew`: it can no longer be paid; the same form makes a new one. `buy`: the buyer
 * chooses anew. `none`: nothing to do.
 */
export type PurchaseAction = 'none' | 'retry' | 'wait-or-retry' | 'renew' | 'buy';

export interface PurchaseState {
	/** Changes whenever the page has something new to show. */
	kind: string;
	tone: 'plain' | 'good' | 'notice' | 'bad';
	title: string;
	text: string;
	next: string;
	/** What happens to money that this purchase did not need; beside whatever else is said. */
	note: string | null;
	action: PurchaseAction;
	/** Whether something can still change without the buyer. */
	polls: boolean;
	/** After how many seconds a page without script asks again; null where that would disturb. */
	refreshSeconds: number | null;
}

/** From here on a buyer who saw no prompt is told where to look. */
export const HINT_AFTER_SECONDS = 30;
export const WAITING_HINT = 'Nothing on your phone? Dial the network’s menu and look for pending approvals.';

const SLOW_SECONDS = 30;
const SOON_SECONDS = 3;

/** A page without script asks quickly while the buyer is likely to be typing the PIN, and slower later. */
function waitingRefreshSeconds(ageSeconds: number): number {
	if (ageSeconds < 60) return 3;
	if (ageSeconds < 3 * 60) return 5;
	return 10;
}

const secondsSince = (moment: string, now: Date) =>
	Math.max(0, (now.getTime() - new Date(moment).getTime()) / 1000);

type Told = Pick<PurchaseState, 'title' | 'text' | 'next'>;

/** An operator's final no. In all of them no money left. */
function refusal(code: string | null, words: PurchaseWords): Told {
	switch (code) {
		case 'payer_rejected':
			return {
				title: 'You cancelled on your phone.',
				text: 'No money left. Nothing was taken.',
				next: 'Try again when you are ready.'
			};
		case 'insufficient_funds':
			return {
				title: 'Not enough on that number.',
				text: 'Nothing was taken.',
				next: 'Use another number or less time.'
			};
		case 'payer_not_found':
			return {
				title: 'That number has no mobile money.',
				text: `Your network knows no account for ${words.number}. Nothing was taken.`,
				next: 'Check the number, or choose another network.'
			};
		case 'payer_limit_reached':
			return {
				title: 'That number has reached its limit.',
				text: 'Your network lets it pay no more for now. Nothing was taken.',
				next: 'Use another number, or less time.'
			};
		case 'payer_timeout':
			return {
				title: 'The request on your phone ran out.',
				text: 'It was not approved in time. Nothing was taken.',
				next: 'Try again, with your PIN at hand.'
			};
		case 'provider_unavailable':
			return {
				title: 'Your network is not working right now.',
				text: 'It could not ask you to pay. Nothing was taken.',
				next: 'Try again in a few minutes, or use another network.'
			};
		case 'provider_error':
			return {
				title: 'Your network said no.',
				text: 'It gave no clear reason; often there is too little money on the number. Nothing was taken.',
				next: 'Check your balance, then try again or use another number.'
			};
		default:
			return {
				title: 'The payment did not go through.',
				text: 'Nothing was taken.',
				next: 'Try again, or use another number.'
			};
	}
}

function whyRefunded(reason: string | null): string {
	switch (reason) {
		case 'duplicate_payment':
			return 'You paid twice for this purchase.';
		case 'session_cancelled':
			return 'Your payment came after you cancelled.';
		case 'late_payment':
			return 'Your payment came too late to use.';
		case 'provisioning_failed':
			return 'The Wi-Fi could not be opened for you.';
		case 'amount_mismatch':
			return 'Your network took another amount than the price.';
		case 'admin':
			return 'The venue is giving your money back.';
		default:
			return 'Your payment could not be used.';
	}
}

/** Where money that bought nothing is now; null when this payment's money is not on its way back. */
function refund(payment: PaymentState | null, words: Pick<PurchaseWords, 'amount' | 'number'>): Told | null {
	if (!payment) return null;
	const why = whyRefunded(payment.refund_reason);
	// After a wrong amount the price is not what comes back.
	const sum = payment.refund_reason === 'amount_mismatch' ? 'The money' : words.amount;
	const keep = 'Keep this page: it is your proof.';
	switch (payment.status) {
		case 'success':
			if (payment.applied) return null;
			return {
				title: 'Your money is going back.',
				text: `${why} ${sum} is going back to ${words.number}.`,
				next: keep
			};
		case 'refund_pending':
			return {
				title: 'Your money is going back.',
				text: `${why} ${sum} is going back to ${words.number}.`,
				next: `${keep} Your network decides how long it takes.`
			};
		case 'refunded':
			return {
				title: 'Your money went back.',
				text: `${why} ${sum} went back to ${words.number}.`,
				next: 'Check the balance on your phone.'
			};
		case 'refund_failed':
			return {
				title: 'Your money is not back yet.',
				text: `${why} ${sum} could not be sent back to ${words.number} so far. It is still yours.`,
				next: 'Show this page to the venue: it is your proof.'
			};
		default:
			return null;
	}
}

/** Where the money of a further payment of the same purchase is; null when it needs no word. */
export function refundNote(
	payment: PaymentState,
	words: Pick<PurchaseWords, 'amount' | 'number'>
): string | null {
	const back = refund(payment, words);
	return back && `${back.text} ${back.next}`;
}

const refundChanges = (payment: PaymentState) =>
	payment.status === 'success' || payment.status === 'refund_pending';

/**
 * The operator's final no. An expired payment that learned its reason later is one too; `payer_timeout` on an
 * expired payment only means that nobody answered in time, so there the money's fate is unknown.
 */
function isRefused(payment: PaymentState): boolean {
	if (payment.status === 'failed') return true;
	return (
		payment.status === 'expired' && payment.failure_code !== null && payment.failure_code !== 'payer_timeout'
	);
}

const refusedKind = (payment: PaymentState) => `refused-${payment.failure_code ?? 'unknown'}`;

function whileUnpaid(payment: PaymentState | null, words: PurchaseWords, now: Date): PurchaseState {
	if (!payment) {
		return {
			kind: 'not-asked',
			tone: 'notice',
			title: 'Nothing has been paid yet.',
			text: 'Your network has not been asked for the money. Nothing was taken.',
			next: `Press the button to pay ${words.amount}.`,
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
			title: 'Check your phone.',
			text: `Enter your ${words.network} PIN to pay ${words.amount}.`,
			next: 'You can close this page. Come back to this address and your purchase is here.',
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
			note: null,
			action: 'wait-or-retry',
			polls: refundChanges(payment),
			refreshSeconds: refundChanges(payment) ? SLOW_SECONDS : null
		};
	}
	if (isRefused(payment)) {
		return {
			kind: refusedKind(payment),
			tone: 'bad',
			...refusal(payment.failure_code, words),
			note: null,
			action: 'retry',
			// An operator may correct itself, and then the time starts after all.
			polls: true,
			refreshSeconds: null
		};
	}
	return {
		kind: 'unknown',
		tone: 'notice',
		title: 'Your network has not answered yet.',
		text: 'If you approved, your time starts as soon as it does. You will not be charged twice.',
		next: 'Stay here, or try again: if both payments go through, one is sent back by itself.',
		note: null,
		action: 'wait-or-retry',
		polls: true,
		refreshSeconds: SLOW_SECONDS
	};
}

function gettingReady(words: PurchaseWords): PurchaseState {
	return {
		kind: 'getting-ready',
		tone: 'good',
		title: 'You have paid.',
		text: `${words.amount} has arrived. The Wi-Fi is getting ready for you.`,
		next: 'Stay here: your password shows by itself, mostly in less than a minute.',
		note: null,
		action: 'none',
		polls: true,
		refreshSeconds: SOON_SECONDS
	};
}

function whileActive(payment: PaymentState | null, words: PurchaseWords): PurchaseState {
	return {
		kind: 'active',
		tone: 'good',
		title: words.until === null ? 'You are paid.' : `You are paid until ${words.until}.`,
		text: `On this phone: copy, then join ${words.ssid}. On another: scan.`,
		next: 'Keep this address: it brings the password back.',
		note: refund(payment, words)?.text ?? null,
		action: 'none',
		polls: false,
		refreshSeconds: null
	};
}

function afterwards(
	told: Told & { kind: string },
	payment: PaymentState | null,
	words: PurchaseWords
): PurchaseState {
	const back = refund(payment, words);
	return {
		tone: 'plain',
		...told,
		kind: back && payment ? `${told.kind}-${payment.status}` : told.kind,
		note: back ? `${back.text} ${back.next}` : null,
		action: 'buy',
		polls: back !== null && payment !== null && refundChanges(payment),
		refreshSeconds: back !== null && payment !== null && refundChanges(payment) ? SLOW_SECONDS : null
	};
}

function whyEnded(reason: string | null, words: PurchaseWords): Told & { kind: string } {
	const next = 'Buy new time when you need it.';
	switch (reason) {
		case 'client_ended':
			return {
				kind: 'ended-client',
				title: 'You ended your time.',
				text: `Your pass for ${words.ssid} is closed.`,
				next
			};
		case 'admin_ended':
			return {
				kind: 'ended-admin',
				title: 'The venue ended your time.',
				text: `Your pass for ${words.ssid} was closed before its end. Ask at the venue why.`,
				next
			};
		case 'refunded':
			return {
				kind: 'ended-refunded',
				title: 'Your time ended because your money went back.',
				text: `Your pass for ${words.ssid} is closed.`,
				next
			};
		default:
			return {
				kind: 'ended',
				title: 'Your time has ended.',
				text: `Your pass for ${words.ssid} is closed.`,
				next
			};
	}
}

function whileCancelled(
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
	if (session.status_reason === 'client_cancelled') {
		return {
			kind: open ? 'cancelled-open' : 'cancelled',
			tone: 'plain',
			title: 'You cancelled this purchase.',
			text: open
				? 'If you still approve on your phone, the money goes back by itself.'
				: 'Nothing was taken.',
			next: 'Buy new time when you need it.',
			note: null,
			action: 'buy',
			polls: open,
			refreshSeconds: open ? SLOW_SECONDS : null
		};
	}
	if (session.status_reason === 'provisioning_failed') {
		return {
			kind: 'not-opened',
			tone: 'bad',
			title: 'The Wi-Fi could not be opened for you.',
			text: open ? `${words.amount} is going back to ${words.number}.` : 'Nothing is kept of your money.',
			next: 'Keep this page: it is your proof. You can buy at another place.',
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
			title: 'Your network has not answered yet.',
			text: 'If you approved, your time starts when it answers soon. If it answers too late, the money goes back by itself.',
			next: 'Look here again in a while. Buy again only if you did not approve.',
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
		title: timedOut ? 'This purchase ran out.' : 'This purchase is closed.',
		text: timedOut ? 'It was not paid in time. Nothing was taken.' : 'Nothing was taken.',
		next: 'Buy new time when you need it.',
		note: null,
		action: timedOut ? 'renew' : 'buy',
		polls: false,
		refreshSeconds: null
	};
}

/**
 * @param payment the payment that matters for this purchase: the newest one; null when none was started
 * @param now the server's time
 */
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
			return whileActive(payment, words);
		case 'expired':
			return afterwards(
				{
					kind: 'over',
					title: 'Your time is over.',
					text: words.until === null ? 'It has run out.' : `It ran until ${words.until}.`,
					next: 'Buy new time to go on.'
				},
				payment,
				words
			);
		case 'ended':
			return afterwards(whyEnded(session.status_reason, words), payment, words);
		case 'cancelled':
			return whileCancelled(session, payment, words);
		default:
			return {
				kind: `other-${session.status}`,
				tone: 'notice',
				title: 'Your purchase is being looked after.',
				text: `If you paid ${words.amount}, it is recorded and safe.`,
				next: 'Look here again in a minute.',
				note: null,
				action: 'none',
				polls: true,
				refreshSeconds: SLOW_SECONDS
			};
	}
}
