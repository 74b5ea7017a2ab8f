import { sql, type ExpressionBuilder, type Insertable, type Selectable } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import { byId, isChanged } from '#lib/server/db/first.ts';
import type { ReviewsTable, Schema } from '#lib/server/db/schema.ts';

export type ReviewRow = Selectable<ReviewsTable>;

/** Returns false if the same review is already open. That one gets the detail, unless it has its fact. */
export async function insert(
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
export const sameReviews = (queries: Queries, { subject, reason }: Pick<ReviewRow, 'subject' | 'reason'>) =>
	queries
		.selectFrom('reviews')
		.select(['detail', 'resolved_at'])
		.where(({ and }) => and({ subject, reason }))
		.execute();

export const find = (queries: Queries, id: number) => byId(queries, 'reviews', id);

export function page(queries: Queries, open: boolean, { at, limit }: { at: number | null; limit: number }) {
	const reviews = queries
		.selectFrom('reviews')
		.selectAll()
		.where('resolved_at', open ? 'is' : 'is not', null)
		.orderBy('id', open ? 'asc' : 'desc')
		.limit(limit);
	return (at === null ? reviews : reviews.where('id', open ? '>' : '<', at)).execute();
}

export const countOpen = (queries: Queries) =>
	queries
		.selectFrom('reviews')
		.select(({ fn }) => [fn.countAll<number>().as('count'), fn.min<number | null>('opened_at').as('oldest')])
		.where('resolved_at', 'is', null)
		.executeTakeFirstOrThrow();

type Resolution = Pick<ReviewRow, 'resolved_at' | 'resolved_by' | 'decision' | 'note'>;

export const close = (queries: Queries, id: number, to: Resolution) =>
	isChanged(
		queries
			.updateTable('reviews')
			.set(to)
			.where(({ and }) => and({ id, resolved_at: null }))
	);

const openRefundOf = (paymentId: number) => (where: ExpressionBuilder<Schema, 'reviews'>) =>
	where.and([
		where('payment_id', '=', paymentId),
		where('resolved_at', 'is', null),
		where('reason', 'like', 'refund%')
	]);

export const aboutRefund = (queries: Queries, paymentId: number) =>
	queries.selectFrom('reviews').select('id').where(openRefundOf(paymentId)).orderBy('id');

export const closeAboutRefund = (queries: Queries, paymentId: number, to: Resolution) =>
	queries.updateTable('reviews').set(to).where(openRefundOf(paymentId)).execute();
