import { sql } from 'kysely';
import type { Decision } from '#lib/domain/help.ts';
import type { Author } from '../audit.ts';
import { type Tx } from '../db/database.ts';
import { refuse } from '../platform/errors.ts';
import { findMessages } from './operator-calls.ts';
import {
	type BillingContext,
	type PaymentRow,
	type RefundRow,
	changePayment,
	findPayment,
	findPaymentOrThrow,
	lockPayment,
	lockTransaction
} from './payments.ts';
import {
	type RefundReason,
	changeRefund,
	endForRefund,
	findRefunds,
	readRefund,
	recordRefundByHand,
	reviewFailedRefund,
	startRefund,
	takesRefundByHand
} from './refunds.ts';
import { type Review, closeReview, findRefundReview, openReview } from './reviews.ts';
import { type HeldSession, applyDueChange, lockSession } from './sessions.ts';
import { type Decider, applyFailure, applySuccess } from './settlement.ts';

/**
 * Decisions of administrators about reviews. Each is allowed only in some states of the payment (`listDecisions`),
 * and is written to the audit log in the transaction of its effect.
 */

/** The reason names the evidence and its source. */
interface DecisionOrder extends Author {
	decision: Decision;
	/** The operator's transaction id, for `paid` and `refunded`. */
	transaction: string | null;
}

/** The decisions that a review allows in the present state of its payment, if it has one. */
export function listDecisions({ reason }: Review, payment: PaymentRow | null): Decision[] {
	const status = payment?.status;
	const isUnpaid = status === 'pending' || status === 'failed' || status === 'expired';
	const hasFailedRefund =
		status === 'refund_failed' || (status === 'refund_pending' && reason === 'refund_no_final_answer');
	const isByHand = status === 'success' && reason === 'refund_by_hand';
	return [
		...(isUnpaid ? (['paid'] as const) : []),
		...(isUnpaid && status !== 'failed' ? (['unpaid'] as const) : []),
		...(hasFailedRefund ? (['retry-refund'] as const) : []),
		...(hasFailedRefund || isByHand ? (['refunded'] as const) : []),
		...(isOwed(status) ? [] : (['dismiss'] as const))
	];
}

/** The buyer's money is still to be returned, so that there is something to do. */
const isOwed = (status: string | undefined) => status === 'refund_failed';

/**
 * Opens the review in which a person records that the money went back in another way, unless one about its refund is open.
 * @returns its id; null if nothing is to be returned, or the operator can return it
 */
export async function openRefundByHand(context: BillingContext, paymentId: number): Promise<number | null> {
	return context.database.transact(async (trx) => {
		const payment = await lockPayment(trx, paymentId);
		if (!payment || !takesRefundByHand(context, payment)) return null;
		if (!(await findRefundReview(trx, paymentId))) {
			await openReview(context, trx, paymentId, 'refund_by_hand');
		}
		return (await findRefundReview(trx, paymentId))?.id ?? null;
	});
}

export type Evidence = NonNullable<Awaited<ReturnType<typeof findEvidence>>>;

export async function findEvidence(context: BillingContext, paymentId: number) {
	const { db } = context.database;
	const payment = await findPayment(db, paymentId);
	if (!payment) return null;
	const [refunds, messages, audit] = await Promise.all([
		findRefunds(db, paymentId),
		findMessages(db, paymentId),
		context.audit.ofPayment(db, paymentId)
	]);
	return { payment, refunds, messages, audit };
}

/** Carries out a decision and resolves the review. @throws Refused, with nothing changed */
export async function carryOutDecision(context: BillingContext, review: Review, order: DecisionOrder) {
	const { decision } = order;
	const by = { actor: order.by, reason: `review ${review.id} (${review.reason}): ${order.note}` };
	// Only a review about a refund may end a refund with an unknown result.
	const ender = review.reason === 'refund_no_final_answer' ? by : null;
	const read = ender && decision === 'retry-refund' ? await askAboutRefund(context, review) : null;
	await context.database.transact(async (trx) => {
		const session =
			review.payment_id === null ? undefined : await lockSession(trx, { paymentId: review.payment_id });
		const payment = review.payment_id === null ? undefined : await lockPayment(trx, review.payment_id);
		if (decision === 'dismiss') {
			await close(context, trx, review, order, by);
			if (isOwed(payment?.status)) throw refusal('its refund failed, so the money is still to be returned');
			return;
		}
		if (!payment || !session) throw refusal('the review has no payment; only "dismiss" resolves it');
		if (decision === 'paid' || decision === 'unpaid') {
			if (decision === 'paid') await decidePaid(context, trx, payment, order, by);
			else if (await applyFailure(context, trx, payment.id, 'provider_error', by)) {
				// The person has judged the callback that said otherwise. Only the references of a claimed success stay.
				const claim = sql<string>`replace(claim, '"claimed":"succeeded"', '"claimed":"failed"')`;
				await trx.updateTable('payments').set({ claim }).where('id', '=', payment.id).execute();
			} else throw refusal(`it is ${payment.status}`);
			return close(context, trx, review, order, by);
		}
		await close(context, trx, review, order, by);
		const isAsked = review.reason === 'refund_by_hand' && decision === 'refunded';
		const paid = isAsked ? await endPaidTime(context, trx, payment, session) : null;
		const current = paid ?? (await failedRefund(context, trx, payment.id, { by: ender, read }));
		if (decision === 'retry-refund') await retryRefund(context, trx, current, by);
		else await recordRefundByHand(context, trx, current, { ...order, note: by.reason });
	});
}

/** Resolves a review. Of two persons who decide at once, the second changes nothing. */
async function close(context: BillingContext, trx: Tx, review: Review, order: DecisionOrder, by: Decider) {
	if (!(await closeReview(context, trx, review.id, order)))
		throw refuse(`Review ${review.id} is resolved already.`);
	await context.audit.record(trx, {
		...by,
		action: `review.${order.decision}`,
		paymentId: review.payment_id,
		before: { review: 'open' },
		after: { review: 'resolved' }
	});
}

async function decidePaid(
	context: BillingContext,
	trx: Tx,
	payment: PaymentRow,
	{ transaction }: DecisionOrder,
	by: Decider
): Promise<void> {
	const { id, status, amount_minor: amountMinor, currency } = payment;
	const other = transaction && (await lockTransaction(trx, payment, transaction));
	if (other) throw refusal(`transaction ${transaction} has already paid payment ${other.id}`);
	const facts = { providerReference: transaction, amountMinor, currency, raw: '' };
	if (!(await applySuccess(context, trx, id, { kind: 'succeeded', ...facts }, by)))
		throw refusal(`it is ${status}`);
}

/**
 * Refuses to send a refund again while the operator may still carry it out. If no read can tell, the person knows more.
 * @returns the refund that was read
 */
async function askAboutRefund(context: BillingContext, { payment_id: paymentId }: Review) {
	const { db } = context.database;
	const refunds = paymentId === null ? [] : await findRefunds(db, paymentId);
	const running = refunds.find(({ status }) => status === 'pending');
	if (!running) return null;
	const payment = await findPaymentOrThrow(db, running.payment_id);
	const outcome = await readRefund(context, running, payment);
	if (outcome?.kind === 'succeeded') throw refusal('the operator says that the money went back');
	if (outcome?.kind === 'pending' || outcome?.kind === 'contradiction')
		throw refusal('the operator says that its refund is not over');
	if (outcome?.kind === 'unavailable')
		throw refusal('the operator may have its refund, and does not respond now; try again later');
	return running;
}

/** Sends a failed refund once more, with a new reference. */
async function retryRefund(context: BillingContext, trx: Tx, current: PaymentRow, by: Decider) {
	const reason = (current.refund_reason ?? 'admin') as RefundReason;
	const refund = await startRefund(context, trx, current, reason, 'refund_failed');
	await context.audit.record(trx, {
		...by,
		action: 'refund.retry',
		paymentId: current.id,
		refundId: refund.id,
		before: { status: 'refund_failed' },
		after: { status: 'refund_pending', amount_minor: refund.amount_minor }
	});
}

/** Ends the time that a payment bought, and returns the payment. Returns null if it did not buy any, or is not paid now. */
async function endPaidTime(context: BillingContext, trx: Tx, payment: PaymentRow, held: HeldSession) {
	if (payment.status !== 'success' || payment.applied === 0) return null;
	const session = await applyDueChange(context, trx, held);
	const refused = await endForRefund(context, trx, session);
	if (refused === 'time_added') throw refusal('time was added after it; refund that first');
	if (refused !== null) throw refusal('its time has not started');
	return payment;
}

/**
 * Returns a payment with a failed refund. With `by`, it ends an unknown one, unless that is being sent, or has changed
 * since `read`.
 */
async function failedRefund(
	context: BillingContext,
	trx: Tx,
	paymentId: number,
	{ by, read }: { by: Decider | null; read: RefundRow | null }
): Promise<PaymentRow> {
	const current = await findPayment(trx, paymentId);
	if (current?.status === 'refund_failed') return current;
	if (current?.status !== 'refund_pending' || by === null)
		throw refusal(`it is ${current?.status ?? 'gone'}`);
	const now = context.clock.now();
	const open = (await findRefunds(trx, paymentId)).find(({ status }) => status === 'pending');
	if (!open || open.submit_state === 'submitting') throw refusal('its refund is being sent now');
	const { submit_state, submitted_at } = read ?? open;
	const isEnded = await changeRefund(
		trx,
		{ id: open.id, submit_state, submitted_at: submitted_at ?? undefined },
		{ status: 'failed', updated_at: now }
	);
	const failed = await changePayment(
		trx,
		{ id: paymentId, status: ['refund_pending'] },
		{ status: 'refund_failed', updated_at: now }
	);
	if (!isEnded || !failed) throw refusal('it has just changed');
	await reviewFailedRefund(context, trx, open.id);
	await context.audit.record(trx, {
		...by,
		action: 'refund.given_up',
		paymentId,
		refundId: open.id,
		before: { refund: 'pending', submit_state: open.submit_state, payment: 'refund_pending' },
		after: { refund: 'failed', payment: 'refund_failed' }
	});
	return failed;
}

const refusal = (why: string) => refuse(`The payment does not allow this decision: ${why}.`);
