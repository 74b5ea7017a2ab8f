import { describe, expect, it } from 'vitest';
import {
	boxesAround,
	distanceMetres,
	EARTH_RADIUS_METRES,
	formatDistance,
	type Box,
	type Position
} from '#lib/domain/geo.ts';

const radians = (degrees: number) => (degrees * Math.PI) / 180;
const degrees = (angle: number) => (angle * 180) / Math.PI;

describe('the distance', () => {
	const quarter = (Math.PI / 2) * EARTH_RADIUS_METRES;

	it.each([
		['a place and itself', [0.3476, 32.5825], [0.3476, 32.5825], 0],
		['a degree along the equator', [0, 0], [0, 1], quarter / 90],
		['a degree along a meridian', [45, 7], [46, 7], quarter / 90],
		['equator and pole', [0, 33], [90, -120], quarter],
		['the poles', [90, 0], [-90, 0], 2 * quarter],
		['opposite points', [0, 0], [0, 180], 2 * quarter],
		['both sides of the antimeridian', [0, 179.5], [0, -179.5], quarter / 90],
		['the pole under two names', [90, 10], [90, -100], 0],
		// https://www.movable-type.co.uk/scripts/latlong.html, scaled from R = 6 371 000
		[
			'Land’s End and John o’ Groats',
			[50.066389, -5.714722],
			[58.643889, -3.07],
			968_853.5 * (EARTH_RADIUS_METRES / 6_371_000)
		]
	])('between %s', (_what, [lat1 = 0, lon1 = 0], [lat2 = 0, lon2 = 0], metres) => {
		const [a, b] = [
			{ lat: lat1, lon: lon1 },
			{ lat: lat2, lon: lon2 }
		];
		expect(Math.abs(distanceMetres(a, b) - metres)).toBeLessThan(Math.max(0.01, metres * 1e-6));
		expect(distanceMetres(b, a)).toBe(distanceMetres(a, b));
	});
});

describe('the boxes around a place', () => {
	const isInside = ({ lat, lon }: Position, box: Box) =>
		lat >= box.minLat && lat <= box.maxLat && lon >= box.minLon && lon <= box.maxLon;

	/** The point at a bearing and distance of another (spherical trigonometry). */
	function pointAt({ lat, lon }: Position, bearing: number, metres: number): Position {
		const angle = metres / EARTH_RADIUS_METRES;
		const from = radians(lat);
		const to = Math.asin(
			Math.sin(from) * Math.cos(angle) + Math.cos(from) * Math.sin(angle) * Math.cos(bearing)
		);
		const turn = Math.atan2(
			Math.sin(bearing) * Math.sin(angle) * Math.cos(from),
			Math.cos(angle) - Math.sin(from) * Math.sin(to)
		);
		const wrapped = ((lon + degrees(turn) + 540) % 360) - 180;
		return { lat: Math.max(-90, Math.min(90, degrees(to))), lon: wrapped };
	}

	const centres: Position[] = [-90, -89.99, -60, -17, 0, 0.3476, 45, 78.2, 89.6, 89.9999, 90].flatMap((lat) =>
		[-180, -179.99, -90, 0, 32.58, 179.7, 179.9999, 180].map((lon) => ({ lat, lon }))
	);

	it('hold every point of the circle, at the poles and across the antimeridian too', () => {
		let points = 0;
		for (const centre of centres) {
			for (const radius of [0.001, 1, 1_000, 50_000]) {
				const boxes = boxesAround(centre, radius);
				for (let step = 0; step < 180; step += 1) {
					const point = pointAt(centre, radians(2 * step), radius * ((step % 3) / 3 + 0.333_333));
					if (distanceMetres(centre, point) > radius) continue;
					points += 1;
					if (boxes.some((box) => isInside(point, box))) continue;
					expect.fail(
						`${JSON.stringify(point)} is within ${radius} m of ${JSON.stringify(centre)} and in no box`
					);
				}
			}
		}
		expect(points).toBeGreaterThan(50_000);
	});

	it('stay on the map, and are not much larger than the circle away from the poles', () => {
		for (const centre of centres) {
			const boxes = boxesAround(centre, 50_000);
			for (const { minLat, maxLat, minLon, maxLon } of boxes) {
				expect(minLat).toBeGreaterThanOrEqual(-90.5);
				expect(maxLat).toBeLessThanOrEqual(90.5);
				expect(minLat).toBeLessThanOrEqual(maxLat);
				expect(minLon).toBeGreaterThanOrEqual(-180);
				expect(maxLon).toBeLessThanOrEqual(180);
				expect(minLon).toBeLessThanOrEqual(maxLon);
			}
			if (Math.abs(centre.lat) > 60) continue;
			const width = boxes.reduce((sum, { minLon, maxLon }) => sum + maxLon - minLon, 0);
			expect(width).toBeLessThan(2);
		}
	});
});

it('reads as people say it', () => {
	expect([0, 3.4, 184, 994, 995, 1_449, 9_949, 9_950, 27_300].map(formatDistance)).toEqual([
		...['0 m', '3 m', '180 m', '990 m', '1.0 km', '1.4 km', '9.9 km', '10 km', '27 km']
	]);
});
