import type { Insertable, Selectable } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import type { ReviewsTable } from '#lib/server/db/schema.ts';

export type ReviewRow = Selectable<ReviewsTable>;

/** Returns false if the same review is already open. */
export async function insert(queries: Queries, review: Insertable<ReviewsTable>): Promise<boolean> {
	const result = await queries
		.insertInto('reviews')
		.values(review)
		.onConflict((conflict) =>
			conflict.columns(['subject', 'reason']).where('resolved_at', 'is', null).doNothing()
		)
		.executeTakeFirst();
	return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

export const findAbout = (queries: Queries, subject: string, reason: string) =>
	queries
		.selectFrom('reviews')
		.select('id')
		.where('subject', '=', subject)
		.where('reason', '=', reason)
		.limit(1)
		.executeTakeFirst();

export const find = async (queries: Queries, id: number) =>
	Number.isSafeInteger(id)
		? queries.selectFrom('reviews').selectAll().where('id', '=', id).executeTakeFirst()
		: undefined;

export const list = (queries: Queries, open: boolean) =>
	queries
		.selectFrom('reviews')
		.selectAll()
		.where('resolved_at', open ? 'is' : 'is not', null)
		.orderBy('id')
		.execute();

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
		.select((builder) => [
			builder.fn.countAll<number>().as('count'),
			builder.fn.min<number | null>('opened_at').as('oldest')
		])
		.where('resolved_at', 'is', null)
		.executeTakeFirstOrThrow();

export async function close(
	queries: Queries,
	id: number,
	to: Pick<ReviewRow, 'resolved_at' | 'resolved_by' | 'decision' | 'note'>
): Promise<boolean> {
	const result = await queries
		.updateTable('reviews')
		.set(to)
		.where('id', '=', id)
		.where('resolved_at', 'is', null)
		.executeTakeFirst();
	return result.numUpdatedRows > 0n;
}
