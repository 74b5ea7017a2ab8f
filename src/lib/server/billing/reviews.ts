import { type ExpressionBuilder, type Insertable, type Selectable, sql } from 'kysely';
import type { Author } from '../audit.ts';
import type { Base } from '../base.ts';
import { LIMIT_CONCURRENCY, type Queries, type Reads, type Tx } from '../db/database.ts';
import { exists, findById, first, isChanged } from '../db/queries.ts';
import type { ReviewsTable, Schema } from '../db/schema.ts';
import type { Decision } from '#lib/domain/help.ts';
import type { BillingContext } from './context.ts';
import { type Decider, applyFailure, applySuccess } from './settlement.ts';
import { messagesOf, reviewFailedRefund } from './callbacks.ts';
import {
	type RefundReason,
	endForRefund,
	readRefund,
	recordRefundByHand,
	startRefund,
	takesRefundByHand
} from './refunds.ts';
import * as store from './payment-store.ts';

/** Decisions about money that a person must make. The same review is open only once at a time. */
export type Review = Selectable<ReviewsTable>;

export type ReviewReason =
	/** The amount taken differs from the requested or settled one. */
	| 'amount_mismatch'
	/** The operator says that the payer paid, and nothing has told how much. */
	| 'amount_unknown'
	/** A callback and a status read, or two status reads, contradict each other. */
	| 'contradiction'
	/** The operator's reference was lost, and no callback has arrived. */
	| 'no_reference'
	/** No final answer within RECONCILE_HOURS. */
	| 'no_final_answer'
	/** The operator cannot refund, refuses to, failed to, or does not say whether it did. */
	| 'refund_not_supported'
	| 'refund_refused'
	| 'refund_failed'
	| 'refund_no_final_answer'
	/** A person returns the money of a payment that the operator cannot refund. */
	| 'refund_by_hand'
	/** The operator's statement and our payments differ. */
	| 'statement_unknown'
	| 'statement_paid'
	| 'statement_missing'
	| 'statement_amount';

interface Resolution extends Author {
	decision: string;
}

export type Reviews = ReturnType<typeof createReviews>;

/** No more facts are added then. */
const MAX_DETAIL = 4_000;

const holds = (detail: string | null, fact: string) => `; ${detail}; `.includes(`; ${fact}; `);

export function createReviews({ database, clock, log }: Base) {
	/**
	 * Opens a review. If the same one is open, it gets the detail, too. A fact that a person has judged opens no other
	 * review, except about a refund, which can fail again.
	 * @param about the id of a payment, or what else the review is about
	 * @param detail a fact. After "; " come circumstances, which may differ when the same fact comes again
	 */
	async function open(
		queries: Queries,
		about: number | { subject: string },
		reason: ReviewReason,
		detail: string | null = null
	): Promise<void> {
		const paymentId = typeof about === 'number' ? about : null;
		const subject = typeof about === 'number' ? `payment ${about}` : about.subject;
		const review = { payment_id: paymentId, subject, reason, detail, opened_at: clock.now() };
		const fact = detail?.split('; ', 1)[0] ?? null;
		if (fact !== null) {
			const same = await sameReviews(queries, review);
			const known = same.filter((one) => holds(one.detail, fact));
			if (known.some((one) => one.resolved_at === null || !reason.startsWith('refund'))) return;
			const length = same.find((one) => one.resolved_at === null)?.detail?.length ?? 0;
			if (length >= MAX_DETAIL) return log.warn({ subject, reason, detail }, 'review is full');
		}
		if (await insert(queries, review, fact)) {
			log.warn({ subject, reason }, 'review opened: a person must decide');
		}
	}
	const resolve = (trx: Queries, { by, decision, note }: Resolution) =>
		trx.updateTable('reviews').set({ resolved_at: clock.now(), resolved_by: by, decision, note });
	return {
		open,
		find: (id: number) => findById(database.db, 'reviews', id),
		/** Open reviews from the oldest, resolved ones from the newest. @param of.at the last id of the page before */
		page(which: 'open' | 'resolved', { at, limit }: { at: number | null; limit: number }) {
			const [isResolved, order, beyond] =
				which === 'open' ? (['is', 'asc', '>'] as const) : (['is not', 'desc', '<'] as const);
			return database.db
				.selectFrom('reviews')
				.selectAll()
				.where('resolved_at', isResolved, null)
				.$if(at !== null, (query) => query.where('id', beyond, at))
				.orderBy('id', order)
				.limit(limit)
				.execute();
		},
		/** Whether a review asks if the payer paid, or a person has answered no. */
		hasAskedIfPaid: (queries: Reads, paymentId: number) =>
			exists(
				queries
					.selectFrom('reviews')
					.select('id')
					.where('payment_id', '=', paymentId)
					.where(({ and, eb, or }) =>
						or([
							and([eb('resolved_at', 'is', null), eb('reason', 'in', ['no_reference', 'contradiction'])]),
							eb('decision', '=', 'unpaid')
						])
					)
			),
		/** Returns the oldest open review about the refund of a payment. */
		aboutRefund: (queries: Queries, paymentId: number) =>
			first(queries.selectFrom('reviews').select('id').where(openRefundOf(paymentId)).orderBy('id')),
		countOpen: () => countOpen(database.db),
		close: (trx: Tx, id: number, resolution: Resolution) =>
			isChanged(resolve(trx, resolution).where(({ and }) => and({ id, resolved_at: null }))),
		/** Closes the question how much was paid: a callback has told it since. */
		closeAmountUnknown: (queries: Queries, paymentId: number) =>
			resolve(queries, { by: 'reconciler', decision: 'told', note: 'the operator has told the amount' })
				.where(({ and }) => and({ payment_id: paymentId, reason: 'amount_unknown', resolved_at: null }))
				.execute(),
		closeAboutRefund: (trx: Tx, paymentId: number, resolution: Resolution) =>
			resolve(trx, resolution).where(openRefundOf(paymentId)).execute()
	};
}

/** Returns false if the same review is already open. That one gets the detail, unless it has its fact. */
async function insert(
	queries: Queries,
	review: Insertable<ReviewsTable>,
	fact: string | null
): Promise<boolean> {
	const known = sql<string>`'; ' || reviews.detail || '; '`;
	const row = await queries
		.insertInto('reviews')
		.values(review)
		.onConflict((conflict) =>
			conflict
				.columns(['subject', 'reason'])
				.where('resolved_at', 'is', null)
				.doUpdateSet({
					detail: sql<string>`coalesce(reviews.detail || '; ', '') || excluded.detail`
				})
				.where('excluded.detail', 'is not', null)
				.where(({ or, eb }) =>
					or([
						eb('reviews.detail', 'is', null),
						// Unlike the functions that search, both databases have it.
						sql<boolean>`replace(${known}, ${`; ${fact}; `}, '') = ${known}`
					])
				)
		)
		.returning(['opened_at', 'detail'])
		.executeTakeFirst();
	return row?.opened_at === review.opened_at && row.detail === (review.detail ?? null);
}

/** Lists the open and the resolved reviews with a subject and a reason. */
export const sameReviews = (queries: Reads, { subject, reason }: Pick<Review, 'subject' | 'reason'>) =>
	queries
		.selectFrom('reviews')
		.select(['detail', 'resolved_at'])
		.where(({ and }) => and({ subject, reason }))
		.execute();

export const countOpen = (queries: Queries) =>
	queries
		.selectFrom('reviews')
		.select(({ fn }) => [fn.countAll<number>().as('count'), fn.min<number | null>('opened_at').as('oldest')])
		.where('resolved_at', 'is', null)
		.executeTakeFirstOrThrow();

const openRefundOf = (paymentId: number) => (where: ExpressionBuilder<Schema, 'reviews'>) =>
	where.and([
		where('payment_id', '=', paymentId),
		where('resolved_at', 'is', null),
		where('reason', 'like', 'refund%')
	]);

/** The message is for the person who decided. */
export class DecisionRefused extends Error {}

/** The reason names the evidence and its source. */
interface DecisionOrder extends Author {
	decision: Decision;
	/** The operator's transaction id, for `paid` and `refunded`. */
	transaction: string | null;
}

/** The decisions that a review allows in the present state of its payment, if it has one. */
export function allowedDecisions({ reason }: Review, payment: store.PaymentRow | null): Decision[] {
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
	const { database, reviews } = context;
	return database.transact(async (trx) => {
		const payment = await store.find(trx, paymentId);
		if (!payment || !takesRefundByHand(context, payment)) return null;
		if (!(await reviews.aboutRefund(trx, paymentId))) {
			await reviews.open(trx, paymentId, 'refund_by_hand');
		}
		return (await reviews.aboutRefund(trx, paymentId))?.id ?? null;
	});
}

export type Evidence = NonNullable<Awaited<ReturnType<typeof evidenceOf>>>;

export async function evidenceOf(context: BillingContext, paymentId: number) {
	const { db } = context.database;
	const payment = await store.find(db, paymentId);
	if (!payment) return null;
	const [refunds, messages, audit] = await Promise.all([
		store.refundsOf(db, paymentId),
		messagesOf(db, paymentId),
		context.audit.ofPayment(db, paymentId)
	]);
	return { payment, refunds, messages, audit };
}

/** Carries out a decision and resolves the review. @throws DecisionRefused, with nothing changed */
export async function decide(context: BillingContext, review: Review, order: DecisionOrder): Promise<void> {
	const { decision } = order;
	const by = { actor: order.by, reason: `review ${review.id} (${review.reason}): ${order.note}` };
	// Only a review about a refund may end a refund with an unknown result.
	const ender = review.reason === 'refund_no_final_answer' ? by : null;
	const read = ender && decision === 'retry-refund' ? await askAboutRefund(context, review) : null;
	await context.database.transact(async (trx) => {
		const payment = review.payment_id === null ? null : await store.find(trx, review.payment_id);
		if (decision === 'dismiss') {
			await close(context, trx, review, order, by);
			if (isOwed(payment?.status)) throw refusal('its refund failed, so the money is still to be returned');
			return;
		}
		if (!payment) throw refusal('the review has no payment; only "dismiss" resolves it');
		if (decision === 'paid' || decision === 'unpaid') {
			if (decision === 'paid') await decidePaid(context, trx, payment, order, by);
			else await decideUnpaid(context, trx, payment, by);
			return close(context, trx, review, order, by);
		}
		await close(context, trx, review, order, by);
		const isAsked = review.reason === 'refund_by_hand' && decision === 'refunded';
		const paid = isAsked ? await endPaidTime(context, trx, payment.id) : null;
		const current = paid ?? (await failedRefund(context, trx, payment.id, { by: ender, read }));
		if (decision === 'retry-refund') await retryRefund(context, trx, current, by);
		else await recordRefundByHand(context, trx, current, { ...order, note: by.reason });
	}, LIMIT_CONCURRENCY);
}

/** Resolves a review. Of two persons who decide at once, the second changes nothing. */
async function close(context: BillingContext, trx: Tx, review: Review, order: DecisionOrder, by: Decider) {
	if (!(await context.reviews.close(trx, review.id, order)))
		throw new DecisionRefused(`Review ${review.id} is resolved already.`);
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
	payment: store.PaymentRow,
	{ transaction }: DecisionOrder,
	by: Decider
): Promise<void> {
	const { id, status, amount_minor: amountMinor, currency } = payment;
	const other = transaction && (await store.paidBefore(trx, payment, transaction));
	if (other) throw refusal(`transaction ${transaction} has already paid payment ${other.id}`);
	const facts = { providerReference: transaction, amountMinor, currency, raw: '' };
	if (!(await applySuccess(context, trx, id, { kind: 'succeeded', ...facts }, by)))
		throw refusal(`it is ${status}`);
}

async function decideUnpaid(context: BillingContext, trx: Tx, payment: store.PaymentRow, by: Decider) {
	if (!(await applyFailure(context, trx, payment.id, 'provider_error', by)))
		throw refusal(`it is ${payment.status}`);
	// The person has judged the callback that said otherwise.
	await store.denyClaim(trx, payment.id);
}

/**
 * Refuses to send a refund again while the operator may still carry it out. If no read can tell, the person knows more.
 * @returns the refund that was read
 */
async function askAboutRefund(
	context: BillingContext,
	{ payment_id: paymentId }: Review
): Promise<store.RefundRow | null> {
	const { db } = context.database;
	const refunds = paymentId === null ? [] : await store.refundsOf(db, paymentId);
	const running = refunds.find(({ status }) => status === 'pending');
	if (!running) return null;
	const payment = await store.findOrThrow(db, running.payment_id);
	const outcome = await readRefund(context, running, payment);
	if (outcome?.kind === 'succeeded') throw refusal('the operator says that the money went back');
	if (outcome?.kind === 'pending' || outcome?.kind === 'contradiction')
		throw refusal('the operator says that its refund is not over');
	if (outcome?.kind === 'unavailable')
		throw refusal('the operator may have its refund, and does not respond now; try again later');
	return running;
}

/** Sends a failed refund once more, with a new reference. */
async function retryRefund(context: BillingContext, trx: Tx, current: store.PaymentRow, by: Decider) {
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
async function endPaidTime(context: BillingContext, trx: Tx, paymentId: number) {
	const payment = await store.findOrThrow(trx, paymentId);
	if (payment.status !== 'success' || payment.applied === 0) return null;
	const session = await context.sessions.current(trx, payment.session_id);
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
	{ by, read }: { by: Decider | null; read: store.RefundRow | null }
): Promise<store.PaymentRow> {
	const current = await store.find(trx, paymentId);
	if (current?.status === 'refund_failed') return current;
	if (current?.status !== 'refund_pending' || by === null)
		throw refusal(`it is ${current?.status ?? 'gone'}`);
	const now = context.clock.now();
	const open = (await store.refundsOf(trx, paymentId)).find(({ status }) => status === 'pending');
	if (!open || open.submit_state === 'submitting') throw refusal('its refund is being sent now');
	const { submit_state, submitted_at } = read ?? open;
	const isEnded = await store.changeRefund(
		trx,
		{ id: open.id, submit_state, submitted_at: submitted_at ?? undefined },
		{ status: 'failed', updated_at: now }
	);
	const failed = await store.change(
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

const refusal = (why: string) => new DecisionRefused(`The payment does not allow this decision: ${why}.`);
