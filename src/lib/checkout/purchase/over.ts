import * as say from '#lib/i18n/messages.js';
import { refund, refundChanges, sentences } from './refund.ts';
import { reloads } from './seconds.ts';
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
		action: 'none',
		...reloads(false),
		note: refund(payment, words)?.text ?? null
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
		action: 'buy',
		...reloads(changes),
		note: back && sentences(back.text, back.next)
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

function whyEnded(reason: string | null, { ssid, data }: PurchaseWords): StatusWords & { kind: string } {
	if (reason === 'data_limit_reached' && data !== null) {
		return {
			kind: 'ended-data',
			title: say.purchase_data_over_title({ limit: data }),
			text: say.purchase_data_over_text(),
			next: say.purchase_data_over_next()
		};
	}
	const [kind, title, text] = WHY_ENDED[reason ?? ''] ?? ENDED;
	return { kind, title: title(), text: text({ ssid }), next: say.purchase_buy_next() };
}

type WhyEnded = readonly [kind: string, title: () => string, text: (words: { ssid: string }) => string];

const ENDED: WhyEnded = ['ended', say.purchase_ended_title, say.purchase_ended_text];
const WHY_ENDED: Readonly<Record<string, WhyEnded>> = {
	client_ended: ['ended-client', say.purchase_ended_client_title, say.purchase_ended_client_text],
	admin_ended: ['ended-admin', say.purchase_ended_admin_title, say.purchase_ended_admin_text],
	refunded: ['ended-refunded', say.purchase_ended_refunded_title, say.purchase_ended_refunded_text]
};
