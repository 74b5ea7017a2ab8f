import { sql, type Selectable } from 'kysely';
import { boxesAround, byDistance, distanceMetres, type Box, type Position } from '#lib/domain/geo.ts';
import type { NearRouter, NearSearch, Queries } from '../database.ts';
import type { RoutersTable } from '../schema.ts';

/**
 * Finds the nearest routers on SQLite. The R*Tree holds positions as 32-bit floats, so its distances are approximate
 * and only possible results are read. Distances are computed here: SQL expressions take more than twice as long.
 *
 * The circle that is read shrinks while it holds too many routers, and grows while it does not fill the page, so the
 * cost depends on the page and not on the density of routers. A later page also reads the positions before it.
 */

/** Largest error of the R*Tree's 32-bit positions, rounded up: about 2.4 m in each direction. */
const ROUNDING_METRES = 5;
/** Extra rows read, so that disabled and equally distant routers seldom need a second query. */
const SPARE = 10;
/** The circle shrinks above this many positions per requested router. */
const CROWDED = 4;
/** A circle without a full page grows at least to this. */
const GROWN_METRES = 150;
const GROWTH = 1.5;
/** Circles this close to each other are not worth another step. */
const CLOSE = 1.1;
const CLOSE_METRES = 1;

interface Candidate {
	id: number;
	atLeast: number;
}

/** @param most `Infinity` for all */
async function positionsIn(queries: Queries, box: Box, most: number): Promise<(Position & { id: number })[]> {
	const { rows } = await sql<Position & { id: number }>`
		select id, min_lat as lat, min_lon as lon from router_positions
		where min_lat <= ${box.maxLat} and max_lat >= ${box.minLat}
			and min_lon <= ${box.maxLon} and max_lon >= ${box.minLon}
		limit ${most === Infinity ? -1 : most + 1}`.execute(queries);
	return rows;
}

/** Returns null if there are more than `most`. */
async function candidatesWithin(
	queries: Queries,
	{ centre, radiusMetres, after }: NearSearch,
	most: number
): Promise<Candidate[] | null> {
	const candidates: Candidate[] = [];
	for (const box of boxesAround(centre, radiusMetres)) {
		const positions = await positionsIn(queries, box, most);
		if (positions.length > most) return null;
		for (const position of positions) {
			const approximate = distanceMetres(centre, position);
			const atLeast = approximate - ROUNDING_METRES;
			if (atLeast > radiusMetres || (after && approximate + ROUNDING_METRES < after.distance)) continue;
			candidates.push({ id: position.id, atLeast });
		}
	}
	return candidates.sort((a, b) => a.atLeast - b.atLeast);
}

async function enabledRouters(queries: Queries, ids: readonly number[]) {
	const { rows } = await sql<Selectable<RoutersTable>>`
		select routers.* from json_each(${JSON.stringify(ids)}) join routers on routers.id = value
		where disabled_at is null`.execute(queries);
	return rows;
}

/** @param candidates all within the radius, nearest first */
async function nearestOf(
	queries: Queries,
	{ centre, radiusMetres, after, limit }: NearSearch,
	candidates: readonly Candidate[]
): Promise<NearRouter[]> {
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

export async function nearestRouters(queries: Queries, search: NearSearch): Promise<NearRouter[]> {
	const { radiusMetres, after, limit } = search;
	// The routers before a later page are unknown, so its circle grows from there.
	let most = after ? Infinity : CROWDED * (limit + SPARE);
	/** Within `short` the page is not full; within `crowded` are too many routers. */
	let short = after?.distance ?? 0;
	let crowded = Infinity;
	let reach = after ? grown(short) : radiusMetres;
	for (;;) {
		reach = Math.min(reach, radiusMetres);
		const within = { ...search, radiusMetres: reach };
		const candidates = await candidatesWithin(queries, within, most);
		if (candidates) {
			const page = await nearestOf(queries, within, candidates);
			if (page.length >= limit || reach >= radiusMetres) return page;
			short = reach;
		} else crowded = reach;
		if (crowded < Math.max(CLOSE_METRES, CLOSE * short)) {
			// Many are equally far, or disabled.
			most = Infinity;
			reach = crowded;
			crowded = Infinity;
		} else if (crowded === Infinity) reach = grown(short);
		else reach = short === 0 ? crowded / 4 : Math.sqrt(short * crowded);
	}
}

const grown = (metres: number): number => Math.max(GROWN_METRES, GROWTH * metres);
