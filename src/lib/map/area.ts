import { distanceMetres, type Position } from '../domain/geo.ts';

/**
 * The circles in which the map reads its places. Their centres lie on a grid and their sizes are few, so that
 * people who look at the same town ask the same questions, and a small move asks nothing new.
 */
export interface Area extends Position {
	/** Metres. */
	radius: number;
}

/** Metres; the last one is the widest that the service searches. */
export const AREA_RADII: readonly number[] = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 50_000];
/** Steps of the grid of centres in a radius. */
const STEPS_IN_RADIUS = 4;
const METRES_PER_DEGREE = 111_195;
/** Wide enough that a view around any point of a grid's cell lies within. */
const REACH = 1 - Math.SQRT1_2 / STEPS_IN_RADIUS;

/** The circle that holds a view: its centre and one of its corners. A view that is wider gets the widest circle. */
export function areaOf(centre: Position, corner: Position): Area {
	const reach = distanceMetres(centre, corner);
	const radius = AREA_RADII.find((metres) => metres * REACH >= reach) ?? AREA_RADII.at(-1) ?? 0;
	return snapped(centre, radius);
}

function snapped({ lat, lon }: Position, radius: number): Area {
	const step = radius / STEPS_IN_RADIUS / METRES_PER_DEGREE;
	const south = Math.round(lat / step) * step;
	const stepLon = step / Math.max(0.05, Math.cos((south * Math.PI) / 180));
	const west = Math.round(lon / stepLon) * stepLon;
	return { lat: rounded(within(90, south)), lon: rounded(within(180, west)), radius };
}

/** Whether an area is one that `areaOf` makes: others are not searched for the map. */
export const isArea = (area: Area): boolean => {
	const { lat, lon, radius } = area;
	if (!AREA_RADII.includes(radius) || Math.abs(lat) > 90 || Math.abs(lon) > 180) return false;
	const again = snapped(area, radius);
	return Math.abs(again.lat - lat) < 1e-4 && Math.abs(again.lon - lon) < 1e-4;
};

const within = (limit: number, degrees: number) => Math.max(-limit, Math.min(limit, degrees));
const rounded = (degrees: number) => Number(degrees.toFixed(5));
