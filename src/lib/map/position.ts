/** Positions that a visitor or an owner gives. */
import type { Position } from '../domain/geo.ts';
import { plainText } from '../domain/text.ts';

export const MAX_QUERY_LENGTH = 100;

/** Rounds to five decimals, about one metre: enough to find a router, and no more about a person. */
export const roundDegrees = (degrees: number): number => Number(degrees.toFixed(5));

/** Rounds a position to five decimals. Returns null if it is not on the globe. */
export function positionOf(lat: number, lon: number): Position | null {
	if (!(Math.abs(lat) <= 90) || !(Math.abs(lon) <= 180)) return null;
	return { lat: roundDegrees(lat), lon: roundDegrees(lon) };
}

const NUMBER = String.raw`[-+]?\d{1,3}(?:\.\d{1,20})?`;
/** Two decimal numbers, separated by a comma, a semicolon or blanks. */
const PLAIN = new RegExp(`^(${NUMBER})(?:\\s*[,;]\\s*|\\s+)(${NUMBER})$`);
/** The same with decimal commas: "0,3476 32,5825" or "0,3476; 32,5825". */
const DECIMAL_COMMAS = /^([-+]?\d{1,3},\d{1,20})(?:\s*;\s*|,?\s+)([-+]?\d{1,3},\d{1,20})$/;

/** Parses a position in decimal degrees, `0.3476, 32.5825`. Returns null for other texts. */
export function parsePosition(text: string): Position | null {
	if (text.length > MAX_QUERY_LENGTH) return null;
	const tidy = plainText(text)
		.replaceAll('\u2212', '-')
		.replaceAll('°', ' ')
		.replace(/ +([,;])/g, '$1')
		.trim();
	const [, lat = '', lon = ''] = DECIMAL_COMMAS.exec(tidy) ?? PLAIN.exec(tidy) ?? [];
	return lat === '' ? null : positionOf(Number(lat.replace(',', '.')), Number(lon.replace(',', '.')));
}

/** Returns the longitude of the same place that is nearest to another one: Leaflet counts on beyond 180 degrees. */
export const longitudeNear = (lon: number, other: number): number =>
	lon + 360 * Math.round((other - lon) / 360);
