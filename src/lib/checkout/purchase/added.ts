import * as m from '#lib/i18n/messages.js';
import {
	purchaseState,
	type PaymentState,
	type PurchaseState,
	type PurchaseWords,
	type SessionState
} from './state.ts';

/** Describes time that is being added to an active pass. Returns null once it is added or has ended. */
export function addedState(
	session: SessionState,
	payment: PaymentState | null,
	words: PurchaseWords,
	now: Date
): PurchaseState | null {
	if (['active', 'expired', 'ended'].includes(session.status)) return null;
	const state = purchaseState(session, payment, words, now);
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
