import type { Position } from '../domain/geo.ts';

/** Rounds to five decimals, about one metre: enough to find a router, and no more than that about a person. */
export const roundDegrees = (degrees: number): number => Number(degrees.toFixed(5));

/** @returns the position with five decimals, or null when it is not on the globe */
export function positionOf(lat: number, lon: number): Position | null {
	if (!(Math.abs(lat) <= 90) || !(Math.abs(lon) <= 180)) return null;
	return { lat: roundDegrees(lat), lon: roundDegrees(lon) };
}
