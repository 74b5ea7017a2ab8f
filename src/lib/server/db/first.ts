import type { SelectQueryBuilder } from 'kysely';
import type { Schema } from './schema.ts';

interface Query<T> {
	limit(rows: number): { executeTakeFirst(): Promise<T | undefined> };
}

export const first = async <T>(query: Query<T>): Promise<T | null> =>
	(await query.limit(1).executeTakeFirst()) ?? null;

export const exists = async (query: Query<unknown>): Promise<boolean> => (await first(query)) !== null;

export async function countOf<Tables extends keyof Schema>(
	query: SelectQueryBuilder<Schema, Tables, object>
): Promise<number> {
	const row = await query.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
	return row.count;
}
