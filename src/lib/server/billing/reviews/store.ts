import type { Insertable, Selectable } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import type { ReviewsTable } from '#lib/server/db/schema.ts';

export type ReviewRow = Selectable<ReviewsTable>;

/** Inserts a review; an open one with the same subject and reason stays as it is. */
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

export async function wasAsked(queries: Queries, subject: string, reason: string): Promise<boolean> {
	const row = await queries
		.selectFrom('reviews')
		.select('id')
		.where('subject', '=', subject)
		.where('reason', '=', reason)
		.limit(1)
		.executeTakeFirst();
	return row !== undefined;
}

export async function find(queries: Queries, id: number): Promise<ReviewRow | null> {
	if (!Number.isSafeInteger(id)) return null;
	const row = await queries.selectFrom('reviews').selectAll().where('id', '=', id).executeTakeFirst();
	return row ?? null;
}

export async function list(queries: Queries, open: boolean): Promise<ReviewRow[]> {
	return queries
		.selectFrom('reviews')
		.selectAll()
		.where('resolved_at', open ? 'is' : 'is not', null)
		.orderBy('id')
		.execute();
}

export async function countOpen(queries: Queries): Promise<{ count: number; oldest: number | null }> {
	return queries
		.selectFrom('reviews')
		.select((builder) => [
			builder.fn.countAll<number>().as('count'),
			builder.fn.min<number | null>('opened_at').as('oldest')
		])
		.where('resolved_at', 'is', null)
		.executeTakeFirstOrThrow();
}

/** @returns false if it was resolved before */
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
