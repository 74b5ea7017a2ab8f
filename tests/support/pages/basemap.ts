import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PERTH = fileURLToPath(new URL('../../../../shared/data/perth-basemap.pmtiles', import.meta.url));

/** A real city extract; null where this clone has no data folder beside it. */
export const realBasemap = (): string | null => (existsSync(PERTH) ? PERTH : null);

/** The middle of the extract, as `MAP_CENTRE`. */
export const PERTH_CENTRE = '-31.92,115.805';

/** Faults of an archive, by their offset in the header (PMTiles specification, version 3, section 3). */
export interface ArchiveFaults {
	magic?: string;
	version?: number;
	tileType?: number;
	/** Bytes that the header promises beyond those that are there. */
	missing?: number;
	bounds?: [west: number, south: number, east: number, north: number];
}

/** A file with the header of a PMTiles archive and `dataBytes` bytes of no meaning after it. */
export function makeArchive(dataBytes: number, faults: ArchiveFaults = {}): Buffer {
	const HEADER_BYTES = 127;
	const MVT = 1;
	const file = Buffer.alloc(HEADER_BYTES + dataBytes);
	for (let at = HEADER_BYTES; at < file.length; at += 1) file[at] = (at * 31) % 251;
	file.write(faults.magic ?? 'PMTiles', 0, 'latin1');
	file[7] = faults.version ?? 3;
	file.writeBigUInt64LE(BigInt(HEADER_BYTES), 56);
	file.writeBigUInt64LE(BigInt(dataBytes + (faults.missing ?? 0)), 64);
	file[99] = faults.tileType ?? MVT;
	file[101] = 15;
	const bounds = faults.bounds ?? [32.5, 0.2, 32.7, 0.45];
	bounds.forEach((degrees, index) => file.writeInt32LE(Math.round(degrees * 1e7), 102 + 4 * index));
	return file;
}
