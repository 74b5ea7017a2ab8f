import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import { approvalMenu } from '#lib/domain/payment-methods/approval-menu.ts';

const HINT_AFTER_SECONDS = 30;

interface OpenPayment {
	created_at: string;
	expires_at: string;
	phone: string;
	payment_method: string;
}

/** Describes the wait for an open payment, for the page and its script. @param now the server's time */
export function waitFor(payment: OpenPayment, now: Date) {
	const requestedAt = Date.parse(payment.created_at);
	const limitSeconds = (Date.parse(payment.expires_at) - requestedAt) / 1000;
	const seconds = Math.min(limitSeconds, Math.max(0, (now.getTime() - requestedAt) / 1000));
	const code = approvalMenu(payment.phone, payment.payment_method);
	return {
		/** Since the payment was requested. */
		seconds,
		/** The payment then expires. */
		limitSeconds,
		/** Until the hint appears. */
		hintSeconds: Math.max(0, Math.ceil(HINT_AFTER_SECONDS - seconds)),
		hint: code === null ? m.purchase_waiting_hint() : m.purchase_waiting_hint_code({ code: apart(code) })
	};
}

export type Waits = ReturnType<typeof waitFor>;
