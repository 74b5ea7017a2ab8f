import { NotAnArchive, readArchive } from '#lib/server/map/basemap.ts';
import type { Config } from '#lib/server/config/config.ts';
import { messageOf } from '#lib/server/platform/errors.ts';
import { isExpected } from '../support/errors.ts';
import { fail, ok, warn, type Finding } from '#lib/server/checks/finding.ts';

const MIB_BYTES = 1024 ** 2;

/** Does not call a tile server, which would count the request. */
export async function* checkBasemap({ basemap, centre }: Config): AsyncGenerator<Finding> {
	if (!basemap) {
		yield ok('map', 'coasts and borders only; BASEMAP names a map with streets');
		return;
	}
	if (basemap.kind === 'tiles') {
		yield ok(
			'map',
			`tiles of ${new URL(basemap.template).host}, at most ${basemap.cacheBytes / MIB_BYTES} MiB cached`
		);
		return;
	}
	try {
		const { bytes, bounds, maxZoom } = await readArchive(basemap.path);
		const [south, west, north, east] = bounds;
		const what = `${basemap.path}, ${(bytes / MIB_BYTES).toFixed(1)} MiB, zoom up to ${maxZoom}, ${west},${south} to ${east},${north}`;
		const holdsCentre =
			centre.lat >= south && centre.lat <= north && centre.lon >= west && centre.lon <= east;
		yield holdsCentre
			? ok('map', what)
			: warn('map', `${what}: MAP_CENTRE is outside`, 'set MAP_CENTRE, or cut an extract of the right city');
	} catch (error) {
		if (!(error instanceof NotAnArchive || isExpected(error))) throw error;
		const advice =
			'make it again with "pmtiles extract", or correct BASEMAP; until then there are coasts and borders only';
		yield fail('map', `${basemap.path}: ${messageOf(error)}`, advice);
	}
}
