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

const LAND: Record<string, [lon: number, lat: number]> = {
	Kampala: [32.58, 0.35],
	Nairobi: [36.82, -1.29],
	Kigali: [30.06, -1.95],
	'Dar es Salaam, inland': [38.9, -6.8],
	Accra: [-0.2, 5.65],
	Kinshasa: [15.3, -4.35],
	Antananarivo: [47.5, -18.9],
	'Unguja (Zanzibar)': [39.35, -6.1],
	'Cairo, by the Nile': [31.2, 30.0],
	'New York': [-74.3, 40.8],
	Perth: [116.0, -31.9],
	London: [-0.1, 51.5],
	'São Tomé': [6.6, 0.2],
	'Grande Comore': [43.3, -11.6],
	Auckland: [174.9, -37.0]
};
const SEA: Record<string, [lon: number, lat: number]> = {
	'off Mombasa': [40.2, -4.1],
	'Zanzibar Channel': [39.1, -5.9],
	'Gulf of Guinea': [0, 0],
	'Red Sea': [38.5, 20],
	'Mozambique Channel': [42, -18],
	'Caspian Sea': [50.5, 42],
	'Mediterranean Sea': [18, 35],
	Pacific: [-140, 10],
	'off Perth': [115.0, -32]
};

it('the file of the world is at most 60 KB, as stored and as sent', () => {
	expect(bytes.length).toBeLessThanOrEqual(MAX_BYTES);
	expect(gzipSync(bytes).length).toBeLessThanOrEqual(MAX_BYTES);
});

it.each(Object.entries(LAND))('%s is land', (_name, [lon, lat]) => {
	expect(isLand(lon, lat)).toBe(true);
});

it.each(Object.entries(SEA))('%s is water', (_name, [lon, lat]) => {
	expect(isLand(lon, lat)).toBe(false);
});

it('every country of the markets has its name in its own middle, and a border', () => {
	const places = new Map(world.countries.map(({ code, at }) => [code, at]));
	for (const code of [
		'UG',
		'KE',
		'TZ',
		'RW',
		'BI',
		'CD',
		'CG',
		'GH',
		'MW',
		'ZM',
		'ZA',
		'NG',
		'MZ',
		'CM',
		'SN',
		'CI',
		'ET'
	]) {
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
