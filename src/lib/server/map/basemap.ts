import type { Clock } from '../platform/clock.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../platform/log.ts';
import { openFile, readArchive, type Archive } from './pmtiles-file.ts';
import { createTiles } from './tiles.ts';

type BasemapFacts =
	| ({ kind: 'pmtiles'; attribution: string } & Pick<Archive, 'version' | 'bounds' | 'maxZoom'>)
	| { kind: 'tiles'; attribution: string; maxZoom: number }
	| { kind: 'none' };

/** Without a PMTiles file or a tile server, pages draw coasts and borders. */
export function createBasemap({ basemap, origin }: Config, clock: Clock, log: Log) {
	const tiles =
		basemap?.kind === 'tiles'
			? createTiles(basemap.template, {
					allowPrivate: basemap.allowPrivate,
					contact: origin,
					cacheBytes: basemap.cacheBytes,
					clock,
					log
				})
			: null;

	/** A missing or damaged file must not break the whole map. */
	async function orNone<T>(work: Promise<T>): Promise<T | null> {
		try {
			return await work;
		} catch (error) {
			log.error({ err: error }, 'the PMTiles file of the map cannot be read');
			return null;
		}
	}

	return {
		async describe(): Promise<BasemapFacts> {
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
