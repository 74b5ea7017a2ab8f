import { numberText } from '../i18n/intl.ts';

/** Mean earth radius (IUGG). */
export const EARTH_RADIUS_METRES = 6_371_008.8;

/** WGS 84, decimal degrees. */
export interface Position {
	lat: number;
	lon: number;
}

export interface Box {
	minLat: number;
	maxLat: number;
	minLon: number;
	maxLon: number;
}

const radians = (degrees: number) => (degrees * Math.PI) / 180;

/** Returns the great-circle distance in metres (haversine). */
export function distanceMetres(a: Position, b: Position): number {
	const sinLat = Math.sin(radians(b.lat - a.lat) / 2);
	const sinLon = Math.sin(radians(b.lon - a.lon) / 2);
	const h = sinLat ** 2 + Math.cos(radians(a.lat)) * Math.cos(radians(b.lat)) * sinLon ** 2;
	return 2 * EARTH_RADIUS_METRES * Math.asin(Math.sqrt(Math.min(1, h)));
}

export const byDistance = (
	a: { distance: number; id: number },
	b: { distance: number; id: number }
): number => a.distance - b.distance || a.id - b.id;

/**
 * Returns boxes that contain every point within the radius: one, or two across the 180th meridian. A circle
 * around a pole covers all longitudes.
 */
export function boxesAround({ lat, lon }: Position, radiusMetres: number): Box[] {
	// Slightly wider than the circle, so that rounding drops no point on its edge.
	const angle = (radiusMetres / EARTH_RADIUS_METRES) * (1 + 1e-9) + 1e-9;
	const minLat = Math.max(-90, lat - (angle * 180) / Math.PI);
	const maxLat = Math.min(90, lat + (angle * 180) / Math.PI);
	const box = (minLon: number, maxLon: number): Box => ({ minLat, maxLat, minLon, maxLon });
	if (minLat === -90 || maxLat === 90) return [box(-180, 180)];
	const spread = (Math.asin(Math.min(1, Math.sin(angle) / Math.cos(radians(lat)))) * 180) / Math.PI;
	const minLon = lon - spread;
	const maxLon = lon + spread;
	if (minLon < -180) return [box(-180, maxLon), box(minLon + 360, 180)];
	if (maxLon > 180) return [box(minLon, 180), box(-180, maxLon - 360)];
	return [box(minLon, maxLon)];
}

/** Formats a distance: "180 m", "1.4 km", "27 km". */
export function formatDistance(metres: number): string {
	if (metres < 995) return unitText(metres < 100 ? metres : Math.round(metres / 10) * 10, 'meter', 0);
	return unitText(metres / 1000, 'kilometer', metres < 9950 ? 1 : 0);
}

export const formatKilometres = (metres: number): string => unitText(metres / 1000, 'kilometer', 0);

function unitText(value: number, unit: 'meter' | 'kilometer', digits: number): string {
	const sizes = { minimumFractionDigits: digits, maximumFractionDigits: digits };
	return numberText(value, { style: 'unit', unit, unitDisplay: 'short', ...sizes });
}
