import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { decodeWorld, ringPoints, STEPS } from '../../../src/lib/map/base-map/world-format.ts';

/** As stored and as sent: the file does not compress further. */
const MAX_BYTES = 60_000;

const bytes = new Uint8Array(
	readFileSync(new URL('../../../src/lib/map/base-map/world.bin', import.meta.url))
);
const world = decodeWorld(bytes);

/** Whether a point is inside a land mass and in none of its holes (ray casting). */
function isLand(lon: number, lat: number): boolean {
	const [x, y] = [lon * STEPS, lat * STEPS];
	return world.land.some((rings) => {
		let inside = false;
		for (const ring of rings) {
			const points = ringPoints(world.arcs, ring);
			points.forEach(([ax, ay], index) => {
				const [bx, by] = points[(index + 1) % points.length] ?? [ax, ay];
				if (ay > y !== by > y && x < ax + ((y - ay) / (by - ay)) * (bx - ax)) inside = !inside;
			});
		}
		return inside;
	});
}

/** Kampala, Nairobi, inland of Dar es Salaam, Accra, Antananarivo, Zanzibar, New York, London, São Tomé, Grande Comore. */
const LAND =
	'32.58,0.35 36.82,-1.29 38.9,-6.8 -0.2,5.65 47.5,-18.9 39.35,-6.1 -74.3,40.8 -0.1,51.5 6.6,0.2 43.3,-11.6';
/** Off Mombasa, between Zanzibar and the coast, the Gulf of Guinea, the Red, Caspian and Mediterranean Seas, the Pacific. */
const SEA = '40.2,-4.1 39.1,-5.9 0,0 38.5,20 50.5,42 18,35 -140,10';
const MARKETS = 'UG KE TZ RW BI CD CG GH MW ZM ZA NG MZ CM SN CI ET';

it('the file of the world is at most 60 KB, as stored and as sent', () => {
	expect(bytes.length).toBeLessThanOrEqual(MAX_BYTES);
	expect(gzipSync(bytes).length).toBeLessThanOrEqual(MAX_BYTES);
});

it.each([
	['land', LAND, true],
	['water', SEA, false]
])('%s is where it is', (_what, places, expected) => {
	for (const place of places.split(' ')) {
		const [lon = NaN, lat = NaN] = place.split(',').map(Number);
		expect(isLand(lon, lat), place).toBe(expected);
	}
});

it('every country of the markets has its name in its own middle, and a border', () => {
	const places = new Map(world.countries.map(({ code, at }) => [code, at]));
	for (const code of MARKETS.split(' ')) {
		const [x = NaN, y = NaN] = places.get(code) ?? [];
		expect(isLand(x / STEPS, y / STEPS), code).toBe(true);
	}
	expect(world.borders.length).toBeGreaterThan(300);
	expect(world.countries.length).toBeGreaterThan(190);
});

it('refuses bytes of another format', () => {
	expect(() => decodeWorld(bytes.subarray(0, 1000))).toThrow('ends too early');
	expect(() => decodeWorld(new Uint8Array([1, 2, 3, 4]))).toThrow('not a file of the world');
});
