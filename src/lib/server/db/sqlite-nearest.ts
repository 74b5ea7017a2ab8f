import { sql, type Selectable } from 'kysely';
import { boxesAround, distanceMetres, type Box, type Position } from '#lib/domain/geo.ts';
import type { NearRouter, NearSearch, Queries } from './database.ts';
import type { RoutersTable } from './schema.ts';

/**
 * Finds the nearest routers on SQLite. The R*Tree holds positions as 32-bit floats, so its distances are approximate
 * and only possible results are read. Distances are computed here: SQL expressions take more than twice as long.
 */

/** Largest error of the R*Tree's 32-bit positions, rounded up: about 2.4 m in each direction. */
const ROUNDING_METRES = 5;
/** Extra rows read, so that disabled and equally distant routers seldom need a second query. */
const SPARE = 10;

async function positionsIn(queries: Queries, box: Box): Promise<(Position & { id: number })[]> {
	const { rows } = await sql<Position & { id: number }>`
		select id, min_lat as lat, min_lon as lon from router_positions
		where min_lat <= ${box.maxLat} and max_lat >= ${box.minLat}
			and min_lon <= ${box.maxLon} and max_lon >= ${box.minLon}`.execute(queries);
	return rows;
}

async function enabledRouters(queries: Queries, ids: readonly number[]) {
	const { rows } = await sql<Selectable<RoutersTable>>`
		select routers.* from json_each(${JSON.stringify(ids)}) join routers on routers.id = value
		where disabled_at is null`.execute(queries);
	return rows;
}

export async function nearestRouters(
	queries: Queries,
	{ centre, radiusMetres, after, limit }: NearSearch
): Promise<NearRouter[]> {
	const candidates: { id: number; atLeast: number }[] = [];
	for (const box of boxesAround(centre, radiusMetres)) {
		for (const position of await positionsIn(queries, box)) {
			const approximate = distanceMetres(centre, position);
			const atLeast = approximate - ROUNDING_METRES;
			if (atLeast > radiusMetres || (after && approximate + ROUNDING_METRES < after.distance)) continue;
			candidates.push({ id: position.id, atLeast });
		}
	}
	candidates.sort((a, b) => a.atLeast - b.atLeast);
	for (let count = limit + SPARE; ; count *= 4) {
		const rows = await enabledRouters(
			queries,
			candidates.slice(0, count).map(({ id }) => id)
		);
		// Beyond the nearest unread candidate, an unread router may be closer.
		const certain = candidates[count]?.atLeast ?? Infinity;
		const found = rows
			.map((row) => ({ ...row, distance: distanceMetres(centre, row) }))
			.filter((row) => row.distance <= radiusMetres && row.distance < certain)
			.filter((row) => !after || byDistance(row, after) > 0);
		if (found.length >= limit || certain === Infinity) return found.sort(byDistance).slice(0, limit);
	}
}

const byDistance = (a: { distance: number; id: number }, b: { distance: number; id: number }) =>
	a.distance - b.distance || a.id - b.id;
