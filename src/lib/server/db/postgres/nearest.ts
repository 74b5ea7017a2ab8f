import { sql, type Kysely, type RawBuilder } from 'kysely';
import { boxesAround, EARTH_RADIUS_METRES } from '#lib/domain/geo.ts';
import type { NearRouter, NearSearch } from '../database.ts';
import type { Schema } from '../schema.ts';

/**
 * Finds the nearest routers on PostgreSQL. The index returns the nearest in degrees, so the cost depends on the page and
 * not on the density of routers. A later page also reads the routers before it.
 */

/** Routers read per router of the page: a circle's box has corners, and degrees of longitude are shorter than of latitude. */
const SPARE = 3;

/** `farthest` in degrees, and `count`, are those of all routers that were read. */
type Read = NearRouter & { farthest: number; count: number };

export async function nearestRouters(db: Kysely<Schema>, search: NearSearch): Promise<NearRouter[]> {
	const { limit, radiusMetres } = search;
	const most = SPARE * limit;
	const { rows } = await sql<Read>`
		select * from (
			select nearest.*, max(degrees) over () as farthest, count(*) over () as count from (
				select routers.*, ${distanceFrom(search)} as distance, ${degreesFrom(search)} as degrees from routers
				where disabled_at is null ${isAfter(search, distanceFrom(search))}
				order by ${degreesFrom(search)} limit ${most}
			) as nearest
		) as read
		where distance <= ${radiusMetres}::float8 order by distance, id limit ${limit}`.execute(db);
	const reach = (rows.length === limit ? rows.at(-1)?.distance : null) ?? radiusMetres;
	const [first] = rows;
	const isComplete = first && (first.count < most || isWithin(search, reach, first.farthest));
	return isComplete ? rows : routersWithin(db, search, reach);
}

/** True if all routers within `reach` metres are among the nearest of `degrees`. */
function isWithin({ centre }: NearSearch, reach: number, degrees: number): boolean {
	const [box, second] = boxesAround(centre, reach);
	if (!box || second) return false;
	const height = Math.max(box.maxLat - centre.lat, centre.lat - box.minLat);
	const width = Math.max(box.maxLon - centre.lon, centre.lon - box.minLon);
	return Math.hypot(height, width) < degrees;
}

/** Finds the nearest routers within `reach` metres, which may be less than the radius of the search. */
async function routersWithin(db: Kysely<Schema>, search: NearSearch, reach: number): Promise<NearRouter[]> {
	const boxes = boxesAround(search.centre, reach).map(
		(box) => sql`point(lon, lat) <@
			box(point(${box.minLon}::float8, ${box.minLat}::float8), point(${box.maxLon}::float8, ${box.maxLat}::float8))`
	);
	const { rows } = await sql<NearRouter>`
		select * from (
			select routers.*, ${distanceFrom(search)} as distance
			from routers where disabled_at is null and (${sql.join(boxes, sql` or `)})
		) as found
		where distance <= ${reach}::float8 ${isAfter(search, sql`distance`)}
		order by distance, id limit ${search.limit}`.execute(db);
	return rows;
}

const degreesFrom = ({ centre }: NearSearch) =>
	sql`point(lon, lat) <-> point(${centre.lon}::float8, ${centre.lat}::float8)`;

/** Haversine, in metres. */
function distanceFrom({ centre }: NearSearch) {
	const lat = sql`${centre.lat}::float8`;
	const lon = sql`${centre.lon}::float8`;
	return sql`2 * ${EARTH_RADIUS_METRES}::float8 * asin(sqrt(least(1, power(sin(radians(lat - ${lat}) / 2), 2)
		+ cos(radians(${lat})) * cos(radians(lat)) * power(sin(radians(lon - ${lon}) / 2), 2))))`;
}

const isAfter = ({ after }: NearSearch, distance: RawBuilder<unknown>) =>
	after ? sql`and (${distance}, id) > (${after.distance}::float8, ${after.id}::bigint)` : sql``;
