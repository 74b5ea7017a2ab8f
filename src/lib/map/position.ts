import type { Position } from '../domain/geo.ts';

/** Rounds to five decimals, about one metre: enough to find a router, and no more about a person. */
export const roundDegrees = (degrees: number): number => Number(degrees.toFixed(5));

/** Rounds a position to five decimals. Returns null if it is not on the globe. */
export function positionOf(lat: number, lon: number): Position | null {
	if (!(Math.abs(lat) <= 90) || !(Math.abs(lon) <= 180)) return null;
	return { lat: roundDegrees(lat), lon: roundDegrees(lon) };
}
