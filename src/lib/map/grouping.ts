import Supercluster from 'supercluster';
import type { Position } from '../domain/geo.ts';

/** Places that would lie on each other at a zoom become one, so that a map never has more than a screen can hold. */

export interface Group<T> extends Position {
	/** One place, or several of them. */
	members: readonly T[];
	count: number;
	/** Zoom at which it falls apart; null for one place. */
	apartAt: number | null;
}

export interface Grouping<T> {
	load(places: readonly T[]): void;
	at(box: { west: number; south: number; east: number; north: number }, zoom: number): Group<T>[];
}

/** More members than this are not listed, only counted. */
const MAX_MEMBERS = 20;

/** @param pixels how near to each other places become one @param maxZoom where even the nearest ones stay apart */
export function createGrouping<T extends Position>(pixels: number, maxZoom: number): Grouping<T> {
	const index = new Supercluster<{ place: T }>({ radius: pixels, extent: 256, maxZoom, minPoints: 2 });
	return {
		load(places) {
			index.load(
				places.map((place) => ({
					type: 'Feature',
					geometry: { type: 'Point', coordinates: [place.lon, place.lat] },
					properties: { place }
				}))
			);
		},
		at({ west, south, east, north }, zoom) {
			return index.getClusters([west, south, east, north], zoom).map(({ geometry, properties }) => {
				const [lon = 0, lat = 0] = geometry.coordinates;
				if (!('cluster' in properties)) {
					return { lat, lon, members: [properties.place], count: 1, apartAt: null };
				}
				const { cluster_id: id, point_count: count } = properties;
				const leaves = count > MAX_MEMBERS ? [] : index.getLeaves(id, MAX_MEMBERS);
				return {
					lat,
					lon,
					count,
					members: leaves.map((leaf) => leaf.properties.place),
					apartAt: index.getClusterExpansionZoom(id)
				};
			});
		}
	};
}
