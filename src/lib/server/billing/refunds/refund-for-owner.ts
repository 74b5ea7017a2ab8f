import type { Author } from '#lib/server/audit/audit.ts';
import type { BillingContext } from '../context.ts';
import * as store from '../payments/store.ts';
import {
	endForRefund,
	isRefundable,
	recordRefundByHand,
	REFUND_BY_HAND,
	takesRefundByHand
} from './refund-by-hand.ts';
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
	{ by, note }: Author
): Promise<'started' | 'time_added' | 'not_possible'> {
	const { database, sessions, audit } = context;
	return database.transact(async (trx) => {
		const session = await sessions.sessionAtOwner(trx, accountId, sessionId);
		const payment = session.payment_id === null ? undefined : await store.find(trx, session.payment_id);
		if (!payment) return 'not_possible';
		const isStarted = payment.status === 'refund_pending' || payment.status === 'refunded';
		if (payment.refund_reason === 'admin' && isStarted) return 'started';
		if (!isRefundable(context, payment)) return 'not_possible';
		const refusal = await endForRefund(context, trx, session);
		if (refusal !== null) return refusal;
		const refund = await startRefund(context, trx, payment, 'admin');
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
}

/**
 * Records that a person returns in another way a payment for a session at a router of this owner, and ends the time that
 * it bought. A second call of the same person changes nothing.
 * @returns `time_added` as `refundForOwner`; `not_possible`: the operator returns it, it is not owed, or somebody else has
 * recorded it
 * @throws AppError `session_not_found`, also for a session at another owner's router
 */
export async function recordRefundForOwner(
	context: BillingContext,
	accountId: number,
	{ sessionId, paymentId }: { sessionId: number; paymentId: number },
	author: Author
): Promise<'recorded' | 'time_added' | 'not_possible'> {
	const { audit, database, sessions } = context;
	return database.transact(async (trx) => {
		const session = await sessions.sessionAtOwner(trx, accountId, sessionId);
		const payment = await store.find(trx, paymentId);
		if (payment?.session_id !== sessionId) return 'not_possible';
		const isRecorded = (await audit.ofPayment(trx, paymentId)).some(
			({ action, actor }) => action === REFUND_BY_HAND && actor === author.by
		);
		if (isRecorded && payment.status === 'refunded') return 'recorded';
		if (!takesRefundByHand(context, payment)) return 'not_possible';
		const refusal = payment.status === 'success' ? await endForRefund(context, trx, session) : null;
		if (refusal !== null) return refusal;
		await recordRefundByHand(context, trx, payment, author);
		return 'recorded';
	});
}
