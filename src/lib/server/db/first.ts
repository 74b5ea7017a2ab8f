interface Query<T> {
	executeTakeFirst(): Promise<T | undefined>;
}

export const first = async <T>(query: Query<T>): Promise<T | null> =>
	(await query.executeTakeFirst()) ?? null;

export const exists = async (query: Query<unknown>): Promise<boolean> => (await first(query)) !== null;
