import { DELETED_NUMBER } from '#lib/domain/phone.ts';
import type { BillingContext } from '../context.ts';
import * as store from '../payments/store.ts';
import { startRefund } from './start-refund.ts';

/**
 * Refunds the payment that bought a session at a router of this owner, and ends its time. A second call for the same
 * payment changes nothing. The operator's result follows as for every refund.
 * @returns `time_added`: paid time follows in the pass, and ending this one would end it too; `not_possible`: the money is
 * already going back, bought nothing, or the operator cannot refund. Then nothing changes.
 * @throws AppError `session_not_found`, also for a session at another owner's router
 */
export async function refundForOwner(
	context: BillingContext,
	accountId: number,
	sessionId: number,
	{ by, note }: { by: string; note: string }
): Promise<'started' | 'time_added' | 'not_possible'> {
	const { database, clock, sessions, audit } = context;
	const result = await database.transact(async (trx) => {
		const session = await sessions.sessionAtOwner(trx, accountId, sessionId);
		const payment = session.payment_id === null ? undefined : await store.find(trx, session.payment_id);
		if (!payment) return 'not_possible';
		const isStarted = payment.status === 'refund_pending' || payment.status === 'refunded';
		if (payment.refund_reason === 'admin' && isStarted) return 'started';
		if (!isRefundable(context, payment)) return 'not_possible';
		if (session.status === 'active') {
			if ((await sessions.laterInPass(trx, session)).length > 0) return 'time_added';
			await sessions.endRefunded(trx, session);
		} else if (session.status === 'expired') await sessions.endExtraTime(trx, session);
		else if (session.status !== 'ended') return 'not_possible';
		const from = { id: payment.id, status: ['success'] } as const;
		const current = await store.change(trx, from, { updated_at: clock.now() });
		if (!current) throw new Error(`Payment ${payment.id} changed inside its own transaction`);
		const refund = await startRefund(context, trx, current, 'admin');
		await audit.record(trx, {
			actor: by,
			action: 'payment.refund',
			paymentId: payment.id,
			refundId: refund.id,
			reason: note,
			before: { status: 'success', session: session.status },
			after: {
				router_id: session.router_id,
				status: 'refund_pending',
				amount_minor: refund.amount_minor,
				currency: refund.currency
			}
		});
		return 'started';
	});
	const { payment_id: paymentId } = await sessions.findOrThrow(database.db, sessionId);
	if (result === 'started' && paymentId !== null) context.changes.announce(paymentId);
	context.jobs.nudge();
	return result;
}

/** Whether a person may refund it: it bought time, its operator can return the money, and its number is still stored. */
export const isRefundable = (
	{ operators }: Pick<BillingContext, 'operators'>,
	payment: Pick<store.PaymentRow, 'status' | 'applied' | 'operator' | 'phone'>
): boolean =>
	payment.status === 'success' &&
	payment.applied === 1 &&
	payment.phone !== DELETED_NUMBER &&
	operators.all().some(({ id, refund }) => id === payment.operator && refund !== undefined);
