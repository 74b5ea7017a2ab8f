import { apart } from '#lib/i18n/intl.ts';
import * as say from '#lib/i18n/messages.js';
import { approvalMenu } from '#lib/domain/payment-methods/approval-menu.ts';

const HINT_AFTER_SECONDS = 30;

/** The wait for an open payment, for the page and its script. */
export interface Waits {
	/** Since the payment was requested. */
	seconds: number;
	/** The payment then expires. */
	limitSeconds: number;
	/** Until the hint appears. */
	hintSeconds: number;
	hint: string;
}

interface OpenPayment {
	created_at: string;
	expires_at: string;
	phone: string;
	payment_method: string;
}

/** @param now the server's time */
export function waitFor(payment: OpenPayment, now: Date): Waits {
	const requestedAt = Date.parse(payment.created_at);
	const limitSeconds = (Date.parse(payment.expires_at) - requestedAt) / 1000;
	const seconds = Math.min(limitSeconds, Math.max(0, (now.getTime() - requestedAt) / 1000));
	const code = approvalMenu(payment.phone, payment.payment_method);
	return {
		seconds,
		limitSeconds,
		hintSeconds: Math.max(0, Math.ceil(HINT_AFTER_SECONDS - seconds)),
		hint: code === null ? say.purchase_waiting_hint() : say.purchase_waiting_hint_code({ code: apart(code) })
	};
}
