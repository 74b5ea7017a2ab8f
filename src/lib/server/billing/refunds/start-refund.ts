import { formatMinor } from '#lib/domain/money.ts';
import type { Tx } from '#lib/server/db/database.ts';
import { refundReference } from '#lib/server/platform/ids.ts';
import { REFUND_JOB, type BillingContext } from '../context.ts';
import * as store from '../payments/store.ts';
import type { UnappliedReason } from '../sessions/sessions.ts';

/** `admin` is the API's name for a person's decision: of the owner, or of an administrator. */
export type RefundReason = UnappliedReason | 'amount_mismatch' | 'admin';

/** Refunds money that bought nothing, or as the owner decided. Opens a review if the amount differs from the one requested. */
export async function startRefund(
	context: BillingContext,
	trx: Tx,
	payment: store.PaymentRow,
	reason: RefundReason,
	from: 'success' | 'refund_failed' = 'success'
): Promise<store.RefundRow> {
	const now = context.clock.now();
	const earlier = await store.refundsOf(trx, payment.id);
	const refund = await store.insertRefund(trx, {
		payment_id: payment.id,
		reference: refundReference(payment.reference, earlier.length + 1),
		// Refund the amount taken, even if it is not the amount requested.
		amount_minor: payment.settled_minor ?? payment.amount_minor,
		currency: payment.settled_currency ?? payment.currency,
		reason,
		status: 'pending',
		submit_state: 'created',
		created_at: now,
		updated_at: now
	});
	const to = { status: 'refund_pending', refund_reason: reason, updated_at: now } as const;
	const changed = await store.change(trx, { id: payment.id, status: [from] }, to);
	if (!changed) throw new Error(`Payment ${payment.id} is not ${from}, so it cannot be refunded`);
	if (reason === 'amount_mismatch' && from === 'success') {
		const taken = formatMinor(refund.amount_minor, refund.currency, 'en');
		const requested = formatMinor(payment.amount_minor, payment.currency, 'en');
		const detail = `taken ${taken}, requested ${requested}`;
		await context.reviews.open(trx, payment.id, reason, detail);
	}
	await context.jobs.schedule(trx, REFUND_JOB, refund.id, now);
	return refund;
}

/**
 * Refunds a payment whose session was cancelled because no gateway let the buyer in. Does nothing if its owner has
 * refunded it.
 */
export async function refundUnprovisioned(context: BillingContext, trx: Tx, id: number): Promise<void> {
	const now = context.clock.now();
	const payment = await store.change(trx, { id, status: ['success'] }, { applied: 0, updated_at: now });
	if (!payment) {
		const { refund_reason: reason } = await store.findOrThrow(trx, id);
		if (reason === 'admin') return;
		throw new Error(`Payment ${id} is not one that bought anything`);
	}
	const refund = await startRefund(context, trx, payment, 'provisioning_failed');
	await context.audit.record(trx, {
		actor: 'access',
		action: 'payment.success, taken back',
		paymentId: id,
		reason: 'no gateway let the buyer in: provisioning_failed',
		before: { status: 'success', applied: 1 },
		after: { status: 'refund_pending', applied: 0, refund: refund.reference }
	});
}
