import { distanceMetres, type Position } from '../domain/geo.ts';
import { roundDegrees } from './position.ts';

/** Circles in which the map reads routers. A coarse grid lets visitors share cached requests. */
export interface Area extends Position {
	radius: number;
}

/** Metres; the last is the widest that the service searches. */
export const AREA_RADII: readonly number[] = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 50_000];
const STEPS_IN_RADIUS = 4;
/** Of latitude, everywhere. */
export const METRES_PER_DEGREE = 111_195;
/** Keeps a view around any point of a grid cell inside the circle. */
const REACH = 1 - Math.SQRT1_2 / STEPS_IN_RADIUS;

/** Returns the circle that contains a view, by its centre and a corner. Wider views get the widest circle. */
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
	return { lat: roundDegrees(within(90, south)), lon: roundDegrees(within(180, west)), radius };
}

/** Returns whether `areaOf` can make this area. The server searches no others for the map. */
export const isArea = (area: Area): boolean => {
	const { lat, lon, radius } = area;
	if (!AREA_RADII.includes(radius) || Math.abs(lat) > 90 || Math.abs(lon) > 180) return false;
	const again = snapped(area, radius);
	return Math.abs(again.lat - lat) < 1e-4 && Math.abs(again.lon - lon) < 1e-4;
};

const within = (limit: number, degrees: number) => Math.max(-limit, Math.min(limit, degrees));
