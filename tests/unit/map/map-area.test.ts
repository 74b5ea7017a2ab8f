import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { distanceMetres } from '#lib/domain/geo.ts';
import { AREA_RADII, areaOf, isArea } from '#lib/map/area.ts';

const WIDEST = AREA_RADII.at(-1) ?? 0;
const position = fc.record({
	lat: fc.double({ min: -80, max: 80, noNaN: true }),
	lon: fc.double({ min: -180, max: 180, noNaN: true })
});

describe('the area of a view', () => {
	it('holds the whole view, unless that is wider than the service searches', () => {
		fc.assert(
			fc.property(position, fc.double({ min: 0.0001, max: 0.5, noNaN: true }), (centre, size) => {
				const corner = { lat: centre.lat + size / 2, lon: centre.lon + size / 2 };
				const area = areaOf(centre, corner);
				const reach = distanceMetres(centre, corner);
				if (area.radius < WIDEST)
					expect(distanceMetres(area, centre) + reach).toBeLessThanOrEqual(area.radius * 1.001);
				expect(isArea(area)).toBe(true);
			})
		);
	});

	it('is the same one after a small move', () => {
		const corner = { lat: 0.3676, lon: 32.6025 };
		const area = areaOf({ lat: 0.3476, lon: 32.5825 }, corner);
		expect(areaOf({ lat: 0.348, lon: 32.583 }, corner)).toEqual(area);
	});

	it('and no other area is searched for the map', () => {
		const area = areaOf({ lat: 0.3476, lon: 32.5825 }, { lat: 0.3676, lon: 32.6025 });
		expect(isArea(area)).toBe(true);
		expect(isArea({ ...area, radius: area.radius + 1 })).toBe(false);
		expect(isArea({ ...area, lat: area.lat + 0.001 })).toBe(false);
		expect(isArea({ ...area, lon: area.lon + 360 })).toBe(false);
		expect(isArea({ ...area, lat: Number.NaN })).toBe(false);
	});
});
