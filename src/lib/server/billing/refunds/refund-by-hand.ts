import { DELETED_NUMBER } from '#lib/domain/phone.ts';
import type { Author } from '#lib/server/audit/audit.ts';
import type { Tx } from '#lib/server/db/database.ts';
import type { BillingContext } from '../context.ts';
import { recordPaymentEvent } from '../payments/settlement.ts';
import * as store from '../payments/store.ts';
import type { SessionRow } from '../sessions/sessions.ts';

/** In the audit log. */
export const REFUND_BY_HAND = 'refund.by_hand';

/** Whether a person may refund it: it bought time, its operator can return the money, and its number is still stored. */
export const isRefundable = (
	{ operators }: Pick<BillingContext, 'operators'>,
	payment: Pick<store.PaymentRow, 'status' | 'applied' | 'operator' | 'phone'>
): boolean =>
	payment.status === 'success' &&
	payment.applied === 1 &&
	payment.phone !== DELETED_NUMBER &&
	operators.all().some(({ id, refund }) => id === payment.operator && refund !== undefined);

/** Whether a person may record that the money went back in another way: the operator cannot return it, or did not. */
export const takesRefundByHand = (
	context: Pick<BillingContext, 'operators'>,
	payment: Pick<store.PaymentRow, 'status' | 'applied' | 'operator' | 'phone'>
): boolean =>
	payment.status === 'refund_failed' ||
	(payment.status === 'success' && payment.applied === 1 && !isRefundable(context, payment));

/** Whether a person has recorded that the money went back in another way. */
export const isRefundedByHand = (
	{ status }: Pick<store.PaymentRow, 'status'>,
	refunds: readonly Pick<store.RefundRow, 'status'>[]
): boolean => status === 'refunded' && refunds.every((refund) => refund.status !== 'succeeded');

/**
 * Ends the time of a session whose payment is refunded.
 * @returns why it must not end; null if it is over
 */
export async function endForRefund(
	{ sessions }: Pick<BillingContext, 'sessions'>,
	trx: Tx,
	session: SessionRow
): Promise<'time_added' | 'not_possible' | null> {
	if (session.status === 'active') {
		if ((await sessions.laterInPass(trx, session)).length > 0) return 'time_added';
		await sessions.endRefunded(trx, session);
	} else if (session.status === 'expired') await sessions.endExtraTime(trx, session);
	else if (session.status !== 'ended') return 'not_possible';
	return null;
}

/** Records a refund that a person sent in another way, and resolves the reviews about it. */
export async function recordRefundByHand(
	context: BillingContext,
	trx: Tx,
	{ id, status, refund_reason, session_id }: store.PaymentRow,
	{ by, note, transaction = null }: Author & { transaction?: string | null }
): Promise<void> {
	const now = context.clock.now();
	const refunded = await store.change(
		trx,
		{ id, status: [status] },
		{ status: 'refunded', refund_reason: refund_reason ?? 'admin', refunded_at: now, updated_at: now }
	);
	if (!refunded) throw new Error(`Payment ${id} changed inside its own transaction`);
	await recordPaymentEvent(context, trx, 'payment.refunded', refunded);
	await context.reviews.closeAboutRefund(trx, id, { by, note, decision: 'refunded' });
	const { router_id } = await context.sessions.findOrThrow(trx, session_id);
	await context.audit.record(trx, {
		actor: by,
		reason: note,
		action: REFUND_BY_HAND,
		paymentId: id,
		before: { status },
		after: { router_id, status: 'refunded', transaction }
	});
}
