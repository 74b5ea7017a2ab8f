import type { Database } from '../db/database.ts';
import type { RoutersContext } from './context.ts';
import { wordsOf } from './named-routers.ts';
import { ownedPage } from './read-routers.ts';
import * as store from './store.ts';

/** Without a field, all routers. */
export interface RouterSearch {
	ownerAccountId?: number;
	/** Start of words of the name, address or network. */
	name?: string;
	/** These are found too. */
	ids?: readonly number[];
}

/** Finds routers of all owners by id, also disabled ones. @returns `next`: the last id if more follow, otherwise null */
export const searchRouters = async (
	context: RoutersContext,
	search: RouterSearch,
	{ afterId, limit }: { afterId: number; limit: number }
) => ownedPage(context, await foundRouters(context.database, search, afterId, limit + 1), limit);

/** Each query reads one range of an index, or the matches of the words. */
export async function foundRouters(
	database: Pick<Database, 'db' | 'hasWords'>,
	{ ownerAccountId, name, ids = [] }: RouterSearch,
	afterId: number,
	limit: number
): Promise<store.RouterRow[]> {
	const { db } = database;
	if (ownerAccountId !== undefined) return store.ofOwner(db, ownerAccountId, afterId, limit);
	if (name === undefined) return store.page(db, afterId, limit);
	const words = wordsOf(name);
	const named = words.length === 0 ? [] : await store.pageWithWords(database, words, afterId, limit);
	const others = (await store.byIds(db, ids)).filter(({ id }) => id > afterId);
	const found = new Map([...named, ...others].map((row) => [row.id, row]));
	return [...found.values()].sort((one, other) => one.id - other.id).slice(0, limit);
}
