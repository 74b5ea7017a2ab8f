import Supercluster from 'supercluster';
import type { Position } from '../domain/geo.ts';

/** Groups routers that would overlap at a zoom, so that the map stays readable. */

export interface Group<T> extends Position {
	members: readonly T[];
	count: number;
	/** The zoom at which the group separates; null for a single router. */
	apartAt: number | null;
}

export type Box = [west: number, south: number, east: number, north: number];

/** Larger groups are only counted. */
const MAX_MEMBERS = 20;

/** @param pixels routers nearer than this become a group @param maxZoom from this zoom nothing is grouped */
export function createGrouping<T extends Position>(pixels: number, maxZoom: number) {
	const index = new Supercluster<{ router: T }>({ radius: pixels, extent: 256, maxZoom, minPoints: 2 });
	return {
		load(routers: readonly T[]): void {
			index.load(
				routers.map((router) => ({
					type: 'Feature',
					geometry: { type: 'Point', coordinates: [router.lon, router.lat] },
					properties: { router }
				}))
			);
		},
		at(box: Box, zoom: number): Group<T>[] {
			return index.getClusters(box, zoom).map(({ geometry, properties }) => {
				const [lon = 0, lat = 0] = geometry.coordinates;
				if (!('cluster' in properties)) {
					return { lat, lon, members: [properties.router], count: 1, apartAt: null };
				}
				const { cluster_id: id, point_count: count } = properties;
				const leaves = count > MAX_MEMBERS ? [] : index.getLeaves(id, MAX_MEMBERS);
				return {
					lat,
					lon,
					count,
					members: leaves.map((leaf) => leaf.properties.router),
					apartAt: index.getClusterExpansionZoom(id)
				};
			});
		}
	};
}
