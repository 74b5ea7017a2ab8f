import { sql } from 'kysely';
import { boxesAround, distanceMetres, type Position } from '#lib/domain/geo.ts';
import type { NearRouter, NearSearch, Queries } from './database.ts';
import { prepared } from './prepared.ts';

/**
 * The R*Tree knows all places, but as 32-bit floats; so it tells nearly how far each is, and rows are read only as far
 * as they can be among the nearest. Distances are worked out here: SQLite, which has no compiled expressions, takes
 * more than twice as long for the same.
 */

/** More than a place in the R*Tree can be off: about 2.4 m in each direction, where the numbers are largest. */
const ROUNDING_METRES = 5;
/** Rows beyond those asked for, so that disabled ones and such as are equally far seldom need a second look. */
const SPARE = 10;

const placesInBox = prepared((queries, maxLat: number, minLat: number, maxLon: number, minLon: number) => ({
	compile: () =>
		sql<Position & { id: number }>`
				select id, min_lat as lat, min_lon as lon from router_positions
				where min_lat <= ${maxLat} and max_lat >= ${minLat} and min_lon <= ${maxLon} and max_lon >= ${minLon}
			`.compile(queries)
}));

const enabledRouters = prepared((queries, ids: string) =>
	queries
		.selectFrom('routers')
		.selectAll()
		.where('id', 'in', sql<number>`(select value from json_each(${ids}))`)
		.where('disabled_at', 'is', null)
);

/** See Database.nearestRouters. */
export async function nearestRouters(
	queries: Queries,
	{ centre, radiusMetres, after, limit }: NearSearch
): Promise<NearRouter[]> {
	const places: { id: number; atLeast: number }[] = [];
	for (const { maxLat, minLat, maxLon, minLon } of boxesAround(centre, radiusMetres)) {
		for (const place of await placesInBox(queries, maxLat, minLat, maxLon, minLon)) {
			const nearly = distanceMetres(centre, place);
			const atLeast = nearly - ROUNDING_METRES;
			if (atLeast > radiusMetres || (after && nearly + ROUNDING_METRES < after.distance)) continue;
			places.push({ id: place.id, atLeast });
		}
	}
	places.sort((a, b) => a.atLeast - b.atLeast);
	for (let count = limit + SPARE; ; count *= 4) {
		const ids = places.slice(0, count).map(({ id }) => id);
		const rows = await enabledRouters(queries, JSON.stringify(ids));
		// A row that is farther than the first of those that were not read could be is not certainly the next.
		const certain = places[count]?.atLeast ?? Infinity;
		const found = rows
			.map((row) => ({ ...row, distance: distanceMetres(centre, row) }))
			.filter((row) => row.distance <= radiusMetres && row.distance < certain)
			.filter((row) => !after || byDistance(row, after) > 0);
		if (found.length >= limit || certain === Infinity) return found.sort(byDistance).slice(0, limit);
	}
}

const byDistance = (a: { distance: number; id: number }, b: { distance: number; id: number }) =>
	a.distance - b.distance || a.id - b.id;
