interface Query<T> {
	executeTakeFirst(): Promise<T | undefined>;
}

/** Runs a query for its first row; null without one. */
export const first = async <T>(query: Query<T>): Promise<T | null> =>
	(await query.executeTakeFirst()) ?? null;

/** Runs a query to see whether it has a row. */
export const exists = async (query: Query<unknown>): Promise<boolean> => (await first(query)) !== null;
