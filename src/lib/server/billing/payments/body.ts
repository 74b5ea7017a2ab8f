import { CURRENCIES, toMajor } from '#lib/domain/money.ts';
import { isoTime } from '#lib/server/platform/clock.ts';
import { failureCode, type PaymentBody } from '#lib/server/contract/schemas.ts';
import type { PaymentRow } from './store.ts';

/** Created once: the OpenAPI registry keeps every schema that derives from a named one, so one per call would leak. */
const failureCodeOrNull = failureCode.nullable();

/** A refund returns what the operator took (refunds/start-refund.ts). */
function refundOf(row: PaymentRow): Pick<PaymentBody, 'refund_amount' | 'refund_currency'> {
	if (row.refund_reason === null) return { refund_amount: null, refund_currency: null };
	const currency = row.settled_currency ?? row.currency;
	return {
		refund_amount: CURRENCIES.includes(currency)
			? toMajor(row.settled_minor ?? row.amount_minor, currency)
			: null,
		refund_currency: currency
	};
}

export function paymentBody(row: PaymentRow): PaymentBody {
	return {
		id: row.id,
		session_id: row.session_id,
		status: row.status,
		amount: toMajor(row.amount_minor, row.currency),
		currency: row.currency,
		phone: row.phone,
		payment_method: row.payment_method,
		applied: row.applied === 1,
		failure_code: failureCodeOrNull.parse(row.failure_code),
		failure_message: row.failure_message,
		provider_reference: row.provider_reference,
		refund_reason: row.refund_reason,
		...refundOf(row),
		expires_at: isoTime(row.expires_at),
		paid_at: isoTime(row.paid_at),
		refunded_at: isoTime(row.refunded_at),
		created_at: isoTime(row.created_at),
		updated_at: isoTime(row.updated_at)
	};
}
