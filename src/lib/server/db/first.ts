interface Query<T> {
	limit(rows: number): { executeTakeFirst(): Promise<T | undefined> };
}

export const first = async <T>(query: Query<T>): Promise<T | null> =>
	(await query.limit(1).executeTakeFirst()) ?? null;

export const exists = async (query: Query<unknown>): Promise<boolean> => (await first(query)) !== null;
