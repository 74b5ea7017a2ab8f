import path from 'node:path';
import type { Clock } from '../platform/clock.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../platform/log.ts';
import { openFile, readArchive, type Archive, type OpenFile } from './pmtiles-file.ts';
import { createTileCache } from './tile-cache.ts';
import { createTileServer } from './tile-server.ts';
import { createTiles, type Tiles } from './tiles.ts';

/** The ground of the map: a file of vector tiles, a tile server, or nothing (then pages draw coasts and borders). */
export interface Basemap {
	describe(): Promise<BasemapFacts>;
	/** The file, open; null where the ground is no file, or the file cannot be read now. */
	openArchive(): Promise<OpenFile | null>;
	/** null where the ground is no tile server. */
	tiles: Tiles | null;
	maxZoom: number;
	stop(): Promise<void>;
}

export type BasemapFacts =
	| ({ kind: 'pmtiles'; attribution: string } & Pick<Archive, 'version' | 'bounds' | 'maxZoom'>)
	| { kind: 'tiles'; attribution: string; maxZoom: number }
	| { kind: 'none' };

const CACHE_FOLDER = 'basemap';

export function createBasemap({ basemap, dataDir, origin }: Config, clock: Clock, log: Log): Basemap {
	const tiles =
		basemap?.kind === 'tiles'
			? createTiles({
					server: createTileServer(basemap.template, {
						allowPrivate: basemap.allowPrivate,
						contact: origin,
						now: () => clock.now()
					}),
					cache: createTileCache(path.join(dataDir, CACHE_FOLDER), {
						template: basemap.template,
						maxBytes: basemap.cacheBytes,
						clock
					}),
					clock,
					log
				})
			: null;

	/** A file that is missing or broken costs the streets, not the map. */
	async function orNone<T>(work: Promise<T>): Promise<T | null> {
		try {
			return await work;
		} catch (error) {
			log.error({ err: error }, 'the file of the map cannot be used');
			return null;
		}
	}

	return {
		async describe() {
			if (basemap?.kind === 'tiles') {
				const { attribution, maxZoom } = basemap;
				return { kind: 'tiles', attribution, maxZoom };
			}
			const archive = basemap ? await orNone(readArchive(basemap.path)) : null;
			if (!basemap || !archive) return { kind: 'none' };
			const { version, bounds, maxZoom } = archive;
			return { kind: 'pmtiles', attribution: basemap.attribution, version, bounds, maxZoom };
		},
		openArchive: async () => (basemap?.kind === 'pmtiles' ? orNone(openFile(basemap.path)) : null),
		tiles,
		maxZoom: basemap?.maxZoom ?? 0,
		stop: async () => tiles?.stop()
	};
}

export { NotAnArchive, readArchive } from './pmtiles-file.ts';
