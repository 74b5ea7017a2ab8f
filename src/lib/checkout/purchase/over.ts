import * as say from '#lib/i18n/messages.js';
import { refund, refundChanges, sentences } from './refund.ts';
import { SLOW_SECONDS } from './seconds.ts';
import type { PaymentState, PurchaseState, PurchaseWords, SessionState, StatusWords } from './state.ts';

export function whileActive(
	session: SessionState,
	payment: PaymentState | null,
	words: PurchaseWords
): PurchaseState {
	return {
		kind: 'active',
		tone: 'good',
		title:
			words.until === null ? say.purchase_ready_title() : say.purchase_active_title({ until: words.until }),
		text: howTo(session.access?.kind, words.ssid),
		next: say.purchase_active_next({ code: words.code }),
		note: refund(payment, words)?.text ?? null,
		action: 'none',
		polls: false,
		refreshSeconds: null
	};
}

function howTo(kind: string | undefined, ssid: string): string {
	if (kind === 'portal_login') return say.purchase_active_sign_in({ ssid });
	if (kind === 'wpa_enterprise') return say.purchase_active_user({ ssid });
	return say.purchase_active_text({ ssid });
}

function afterwards(
	status: StatusWords & { kind: string },
	payment: PaymentState | null,
	words: PurchaseWords
): PurchaseState {
	const back = refund(payment, words);
	const changes = back !== null && payment !== null && refundChanges(payment);
	return {
		tone: 'plain',
		...status,
		kind: back && payment ? `${status.kind}-${payment.status}` : status.kind,
		note: back && sentences(back.text, back.next),
		action: 'buy',
		polls: changes,
		refreshSeconds: changes ? SLOW_SECONDS : null
	};
}

export const whileExpired = (payment: PaymentState | null, words: PurchaseWords): PurchaseState =>
	afterwards(
		{
			kind: 'over',
			title: say.purchase_over_title(),
			text:
				words.until === null
					? say.purchase_ended_text({ ssid: words.ssid })
					: say.purchase_over_text({ until: words.until }),
			next: say.purchase_over_next()
		},
		payment,
		words
	);

export const whileEnded = (
	session: SessionState,
	payment: PaymentState | null,
	words: PurchaseWords
): PurchaseState => afterwards(whyEnded(session.status_reason, words), payment, words);

function whyEnded(reason: string | null, { ssid }: PurchaseWords): StatusWords & { kind: string } {
	const next = say.purchase_buy_next();
	switch (reason) {
		case 'client_ended':
			return {
				kind: 'ended-client',
				title: say.purchase_ended_client_title(),
				text: say.purchase_ended_client_text({ ssid }),
				next
			};
		case 'admin_ended':
			return {
				kind: 'ended-admin',
				title: say.purchase_ended_admin_title(),
				text: say.purchase_ended_admin_text({ ssid }),
				next
			};
		case 'refunded':
			return {
				kind: 'ended-refunded',
				title: say.purchase_ended_refunded_title(),
				text: say.purchase_ended_refunded_text({ ssid }),
				next
			};
		default:
			return {
				kind: 'ended',
				title: say.purchase_ended_title(),
				text: say.purchase_ended_text({ ssid }),
				next
			};
	}
}
