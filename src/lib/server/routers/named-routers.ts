import { boxesAround, byDistance, distanceMetres } from '#lib/domain/geo.ts';
import type { Database, NearRouter, NearSearch } from '../db/database.ts';
import * as store from './store.ts';

/** Looks at no more matching routers in the area of the search. */
const MAX_NAMED = 1_000;
/** Further words are ignored. */
const MAX_WORDS = 5;

/** Returns the different words of a text, which have only letters, digits and accents. */
export const wordsOf = (text: string): string[] =>
	[
		...new Set(
			text
				.normalize('NFKC')
				.toLowerCase()
				.match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu)
		)
	].slice(0, MAX_WORDS);

/** Finds routers whose name, address or network has words that begin with each word of `name`, nearest first. */
export async function namedRouters(
	database: Database,
	name: string,
	{ centre, radiusMetres, after, limit }: NearSearch
): Promise<NearRouter[]> {
	const words = wordsOf(name);
	if (words.length === 0) return [];
	const named = await store.withWords(database, words, boxesAround(centre, radiusMetres), MAX_NAMED);
	const distances = new Map(named.map(({ id, ...position }) => [id, distanceMetres(centre, position)]));
	const nearest = [...distances]
		.map(([id, distance]) => ({ id, distance }))
		.filter((one) => one.distance <= radiusMetres && (!after || byDistance(one, after) > 0))
		.sort(byDistance)
		.slice(0, limit);
	const rows = await store.byIds(
		database.db,
		nearest.map(({ id }) => id)
	);
	return rows.map((row) => ({ ...row, distance: distances.get(row.id) ?? 0 })).sort(byDistance);
}
