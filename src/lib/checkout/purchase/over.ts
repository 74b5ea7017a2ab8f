import * as m from '#lib/i18n/messages.js';
import { refund, refundChanges, sentences } from './refund.ts';
import { reloads } from './seconds.ts';
import type { PaymentState, PurchaseState, PurchaseWords, SessionState, StatusWords } from './state.ts';

export function whileActive(
	session: SessionState,
	payment: PaymentState | null,
	words: PurchaseWords
): PurchaseState {
	const { until } = words;
	const titleOf = session.isExtra ? m.purchase_extra_title : m.purchase_active_title;
	return {
		kind: session.isExtra ? 'extra' : 'active',
		tone: 'good',
		title: until === null ? m.purchase_ready_title() : titleOf({ until }),
		text: howTo(session.access?.kind, words.ssid),
		next: m.purchase_active_next({ code: words.code }),
		action: 'none',
		...reloads(false),
		note: refund(payment, words)?.text ?? null
	};
}

function howTo(kind: string | undefined, ssid: string): string {
	if (kind === 'portal_login') return m.purchase_active_sign_in({ ssid });
	if (kind === 'wpa_enterprise') return m.purchase_active_user({ ssid });
	return m.purchase_active_text({ ssid });
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
			title: m.purchase_over_title(),
			text:
				words.until === null
					? m.purchase_ended_text({ ssid: words.ssid })
					: m.purchase_over_text({ until: words.until }),
			next: m.purchase_over_next()
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
			title: m.purchase_data_over_title({ limit: data }),
			text: m.purchase_data_over_text(),
			next: m.purchase_data_over_next()
		};
	}
	const [kind, title, text] = WHY_ENDED[reason ?? ''] ?? ENDED;
	return { kind, title: title(), text: text({ ssid }), next: m.purchase_buy_next() };
}

type WhyEnded = readonly [kind: string, title: () => string, text: (words: { ssid: string }) => string];

const ENDED: WhyEnded = ['ended', m.purchase_ended_title, m.purchase_ended_text];
const WHY_ENDED: Readonly<Record<string, WhyEnded>> = {
	client_ended: ['ended-client', m.purchase_ended_client_title, m.purchase_ended_client_text],
	admin_ended: ['ended-admin', m.purchase_ended_admin_title, m.purchase_ended_admin_text],
	refunded: ['ended-refunded', m.purchase_ended_refunded_title, m.purchase_ended_refunded_text]
};
