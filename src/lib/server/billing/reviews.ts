import { type ExpressionBuilder, type Insertable, sql } from 'kysely';
import type { Author } from '../audit.ts';
import type { Base } from '../base.ts';
import type { Queries, Reads, Tx } from '../db/database.ts';
import { exists, findById, first, isChanged } from '../db/queries.ts';
import type { Row, Schema } from '../db/schema.ts';

/** Decisions about money that a person must make. The same review is open only once at a time. */
export type Review = Row<'reviews'>;

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

/** No more facts are added then. */
const MAX_DETAIL = 4_000;

/**
 * Opens a review. If the same one is open, it gets the detail, too. A fact that a person has judged opens no other
 * review, except about a refund, which can fail again.
 * @param about the id of a payment, or what else the review is about
 * @param detail a fact. After "; " come circumstances, which may differ when the same fact comes again
 */
export async function openReview(
	{ clock, log }: Pick<Base, 'clock' | 'log'>,
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
		const same = await findSameReviews(queries, review);
		const known = same.filter((one) => `; ${one.detail}; `.includes(`; ${fact}; `));
		if (known.some((one) => one.resolved_at === null || !reason.startsWith('refund'))) return;
		const length = same.find((one) => one.resolved_at === null)?.detail?.length ?? 0;
		if (length >= MAX_DETAIL) return log.warn({ subject, reason, detail }, 'review is full');
	}
	if (await insertReview(queries, review, fact)) {
		log.warn({ subject, reason }, 'review opened: a person must decide');
	}
}

const resolveReviews = ({ clock }: Pick<Base, 'clock'>, trx: Queries, { by, decision, note }: Resolution) =>
	trx.updateTable('reviews').set({ resolved_at: clock.now(), resolved_by: by, decision, note });

/** @returns false if it is resolved already */
export const closeReview = (context: Pick<Base, 'clock'>, trx: Tx, id: number, resolution: Resolution) =>
	isChanged(resolveReviews(context, trx, resolution).where(({ and }) => and({ id, resolved_at: null })));

/** Closes the question how much was paid: a callback has told it since. */
export const closeAmountUnknown = (context: Pick<Base, 'clock'>, queries: Queries, paymentId: number) =>
	resolveReviews(context, queries, {
		by: 'reconciler',
		decision: 'told',
		note: 'the operator has told the amount'
	})
		.where(({ and }) => and({ payment_id: paymentId, reason: 'amount_unknown', resolved_at: null }))
		.execute();

export const closeRefundReviews = (
	context: Pick<Base, 'clock'>,
	trx: Tx,
	paymentId: number,
	resolution: Resolution
) => resolveReviews(context, trx, resolution).where(isOpenAboutRefund(paymentId)).execute();

export const closeOpenReviews = (
	context: Pick<Base, 'clock'>,
	trx: Tx,
	subject: string,
	resolution: Resolution
) =>
	resolveReviews(context, trx, resolution)
		.where(({ and }) => and({ subject, resolved_at: null }))
		.execute();

export const findReview = ({ database }: Pick<Base, 'database'>, id: number) =>
	findById(database.db, 'reviews', id);

/** Open reviews from the oldest, resolved ones from the newest. @param of.at the last id of the page before */
export function listReviews(
	{ database }: Pick<Base, 'database'>,
	which: 'open' | 'resolved',
	{ at, limit }: { at: number | null; limit: number }
): Promise<Review[]> {
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
}

/** Whether a review asks if the payer paid, or a person has answered no. */
export const hasAskedIfPaid = (queries: Reads, paymentId: number): Promise<boolean> =>
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
	);

/** Finds the oldest open review about the refund of a payment. */
export const findRefundReview = (queries: Queries, paymentId: number) =>
	first(queries.selectFrom('reviews').select('id').where(isOpenAboutRefund(paymentId)).orderBy('id'));

/** Returns false if the same review is already open. That one gets the detail, unless it has its fact. */
async function insertReview(queries: Queries, review: Insertable<Schema['reviews']>, fact: string | null) {
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
export const findSameReviews = (queries: Reads, { subject, reason }: Pick<Review, 'subject' | 'reason'>) =>
	queries
		.selectFrom('reviews')
		.select(['detail', 'resolved_at'])
		.where(({ and }) => and({ subject, reason }))
		.execute();

export const countOpenReviews = (queries: Queries) =>
	queries
		.selectFrom('reviews')
		.select(({ fn }) => [fn.countAll<number>().as('count'), fn.min<number | null>('opened_at').as('oldest')])
		.where('resolved_at', 'is', null)
		.executeTakeFirstOrThrow();

const isOpenAboutRefund = (paymentId: number) => (where: ExpressionBuilder<Schema, 'reviews'>) =>
	where.and([
		where('payment_id', '=', paymentId),
		where('resolved_at', 'is', null),
		where('reason', 'like', 'refund%')
	]);
