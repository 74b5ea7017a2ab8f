import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { TileType, bytesToHeader } from 'pmtiles';
import type { Config } from './config/config.ts';
import type { Log } from './platform/log.ts';
import { refuse } from '#lib/server/platform/errors.ts';

/**
 * The streets of the map: one PMTiles file of the installation, or none. Browsers read its tiles themselves, by range.
 */

type BasemapFacts =
	| ({ kind: 'pmtiles'; attribution: string } & Pick<Archive, 'version' | 'bounds' | 'maxZoom'>)
	| { kind: 'none' };

export function createBasemap({ basemap }: Config, log: Log) {
	/** A missing or damaged file must not break the whole map. */
	async function orNone<T>(work: Promise<T>): Promise<T | null> {
		try {
			return await work;
		} catch (error) {
			const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
			if (!isMissing || basemap.isNamed)
				log.error({ err: error }, 'the PMTiles file of the map cannot be read');
			return null;
		}
	}

	return {
		async describe(): Promise<BasemapFacts> {
			const archive = await orNone(readArchive(basemap.path));
			if (!archive) return { kind: 'none' };
			const { version, bounds, maxZoom } = archive;
			return { kind: 'pmtiles', attribution: basemap.attribution, version, bounds, maxZoom };
		},
		openArchive: () => orNone(openFile(basemap.path))
	};
}

/** Header of a PMTiles archive (specification, version 3). */
interface Archive {
	version: string;
	/** South, west, north, east, in degrees. */
	bounds: [number, number, number, number];
	minZoom: number;
	maxZoom: number;
	bytes: number;
}

const HEADER_BYTES = 127;
const MAGIC = 'PMTiles';
const VERSION = 3;

/** The caller must close the file. */
interface OpenFile {
	handle: FileHandle;
	bytes: number;
	version: string;
}

async function openFile(path: string): Promise<OpenFile> {
	const handle = await open(path, 'r');
	try {
		const { size, mtimeMs, ino } = await handle.stat();
		const version = createHash('sha256').update(`${size} ${mtimeMs} ${ino}`).digest('base64url').slice(0, 16);
		return { handle, bytes: size, version };
	} catch (error) {
		await handle.close();
		throw error;
	}
}

/** @throws Refused if browsers cannot draw it as a map, or the system's error if the file cannot be read */
export async function readArchive(path: string): Promise<Archive> {
	const { handle, bytes, version } = await openFile(path);
	try {
		const start = new Uint8Array(HEADER_BYTES);
		const { bytesRead } = await handle.read(start, 0, HEADER_BYTES, 0);
		return { ...headerOf(start.subarray(0, bytesRead), bytes), version, bytes };
	} finally {
		await handle.close();
	}
}

function headerOf(start: Uint8Array<ArrayBuffer>, bytes: number): Omit<Archive, 'version' | 'bytes'> {
	const magic = Buffer.from(start.subarray(0, MAGIC.length)).toString('latin1');
	if (start.length < HEADER_BYTES || magic !== MAGIC) throw refuse('it is no PMTiles file');
	if (start[MAGIC.length] !== VERSION) {
		throw refuse(`it is PMTiles version ${start[MAGIC.length]}, and version ${VERSION} is needed`);
	}
	const header = bytesToHeader(start.slice().buffer);
	if (header.tileType !== TileType.Mvt) {
		const kind = TileType[header.tileType] ?? 'of an unknown kind';
		throw refuse(`its tiles are ${kind}, not vector tiles (MVT)`);
	}
	const end = header.tileDataOffset + (header.tileDataLength ?? 0);
	if (end > bytes) throw refuse(`it is cut off: ${bytes} of ${end} bytes are there`);
	const { minLat, minLon, maxLat, maxLon, minZoom, maxZoom } = header;
	const isArea = -90 <= minLat && minLat < maxLat && maxLat <= 90;
	if (!isArea || !(-180 <= minLon && minLon < maxLon && maxLon <= 180)) {
		throw refuse('its bounds are not an area of the globe');
	}
	return { bounds: [minLat, minLon, maxLat, maxLon], minZoom, maxZoom };
}
