/** `airtill basemap extract`: cuts the streets of a city out of a PMTiles archive on the web, by HTTP ranges. */
import { mkdir, open, rename, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import {
	Compression,
	type Entry,
	FetchSource,
	findTile,
	type Header,
	SharedPromiseCache,
	type Source,
	TileType,
	zxyToTileId
} from 'pmtiles';
import { readArchive } from '#lib/server/basemap.ts';
import { messageOf, refuse, Refused } from '#lib/server/platform/errors.ts';
import { defineCommand } from './command.ts';
import { print, refuseUsage } from './terminal.ts';

/** Protomaps' basemap of the day; older ones go after a week (docs.protomaps.com/basemaps/downloads). */
const BUILDS = 'https://build.protomaps.com';
const DAYS_BACK = 7;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Streets need no more, and the file grows fourfold with each level. */
const MAX_ZOOM = 15;
/** About 2 degrees by 2 at level 15, a hundred times a city. */
const MAX_TILES = 60_000;
/** Bytes that are cheaper to read than another request. */
const GAP_BYTES = 32_768;
const REQUEST_BYTES = 4 * 1024 * 1024;
const MEBIBYTE = 1024 * 1024;

const HEADER_BYTES = 127;
/** Header and root directory lie in the first 16 KiB (PMTiles specification, version 3, section 2). */
const MAX_ROOT_BYTES = 16_384 - HEADER_BYTES;
const LEAF_ENTRIES = 4096;

/** West, south, east, north, in degrees. */
type Bounds = readonly [west: number, south: number, east: number, north: number];

export const extractBasemap = defineCommand({
	name: 'basemap extract',
	args: ['LON,LAT,LON,LAT'],
	summary: 'Fetch the streets of a city for the map: its south-west and its north-east corner, in degrees.',
	help: "Example, Kampala: 32.45,0.20,32.75,0.45. Reads only the city out of Protomaps' basemap of the day (OpenStreetMap data, ODbL), a few megabytes. Airtill shows the file at once, without a new start. If the connection breaks, the same command continues.",
	options: {
		from: { value: 'URL', help: 'another PMTiles archive of vector tiles (Protomaps schema)' },
		to: {
			value: 'FILE.pmtiles',
			help: 'default: basemap.pmtiles in DATA_DIR, or the file that BASEMAP names'
		}
	},
	async run({ args: [corners], values: { from, to }, config, folder }) {
		const bounds = parseBounds(corners);
		const file = to === undefined ? config().basemap.path : resolve(folder, to);
		const source = new FetchSource(from ?? (await findBuild()));
		try {
			const plan = await planExtract(source, bounds);
			await mkdir(dirname(file), { recursive: true });
			await fetchTiles(source, plan, `${file}.part`);
			await rename(`${file}.part`, file);
		} catch (error) {
			throw error instanceof Refused ? error : refuse(explain(source, error), { cause: error });
		}
		const { bytes, maxZoom } = await readArchive(file);
		await print(`${file}: ${formatSize(bytes)}, zoom up to ${maxZoom}`);
	}
});

/** @throws Refused */
function parseBounds(text: string): Bounds {
	const degrees = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
	const [west = 0, south = 0, east = 0, north = 0] = degrees;
	const isArea = west >= -180 && west < east && east <= 180 && south >= -85 && south < north && north <= 85;
	if (degrees.length !== 4 || !isArea) {
		throw refuseUsage(
			`LON,LAT,LON,LAT is the south-west and the north-east corner, e.g. 32.45,0.20,32.75,0.45, not "${text}".`
		);
	}
	return [west, south, east, north];
}

/** Returns the newest build that is there. @throws Refused */
async function findBuild(): Promise<string> {
	for (let day = 0; day <= DAYS_BACK; day += 1) {
		const date = new Date(Date.now() - day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '');
		const url = `${BUILDS}/${date}.pmtiles`;
		const response = await fetch(url, { method: 'HEAD' }).catch((error: unknown) => {
			throw refuse(`${BUILDS} cannot be reached: ${messageOf(error)}. Use --from with another address.`);
		});
		if (response.ok) return url;
	}
	throw refuse(`${BUILDS} has no build of the last ${DAYS_BACK} days. Use --from with another address.`);
}

const explain = (source: Source, error: unknown): string =>
	`${source.getKey()} cannot be read: ${messageOf(error)}. The same command continues where it stopped.`;

const formatSize = (bytes: number): string => `${(bytes / MEBIBYTE).toFixed(1)} MiB`;

/** What the new archive will hold: it is known before the first tile is read, so a broken run can go on. */
interface Plan {
	/** Header, root directory, metadata and leaf directories. */
	head: Buffer;
	/** Tiles in the order of the new archive, by their place in the source. */
	contents: { offset: number; length: number }[];
	dataBytes: number;
}

/** @throws Refused if the source has no vector tiles or does not cover the area, or the area is too large */
async function planExtract(source: Source, wanted: Bounds): Promise<Plan> {
	const cache = new SharedPromiseCache(10_000);
	const header = await cache.getHeader(source);
	if (header.tileType !== TileType.Mvt) throw refuse(`${source.getKey()} has no vector tiles.`);
	const maxZoom = Math.min(MAX_ZOOM, header.maxZoom);
	const bounds: Bounds = [
		...([Math.max(wanted[0], header.minLon), Math.max(wanted[1], header.minLat)] as const),
		...([Math.min(wanted[2], header.maxLon), Math.min(wanted[3], header.maxLat)] as const)
	];
	if (bounds[0] >= bounds[2] || bounds[1] >= bounds[3]) {
		throw refuse(`${source.getKey()} does not cover this area.`);
	}
	const ids = listTiles(bounds, header.minZoom, maxZoom);
	const { data: metadata } = await source.getBytes(header.jsonMetadataOffset, header.jsonMetadataLength);

	const entries: Entry[] = [];
	const contents: Plan['contents'] = [];
	const places = new Map<number, number>();
	let dataBytes = 0;
	let addressed = 0;
	for (const id of ids) {
		const found = await findEntry(cache, source, header, id);
		if (!found) continue;
		addressed += 1;
		let offset = places.get(found.offset);
		if (offset === undefined) {
			offset = dataBytes;
			places.set(found.offset, offset);
			contents.push({ offset: header.tileDataOffset + found.offset, length: found.length });
			dataBytes += found.length;
		}
		const last = entries.at(-1);
		if (last && last.offset === offset && last.tileId + last.runLength === id) last.runLength += 1;
		else entries.push({ tileId: id, offset, length: found.length, runLength: 1 });
	}

	const { root, leaves } = encodeDirectories(entries);
	const head = Buffer.concat([
		encodeHeader(header, {
			...{ bounds, maxZoom, dataBytes, addressed },
			...{ entries: entries.length, contents: contents.length },
			lengths: [root.length, metadata.byteLength, leaves.length]
		}),
		root,
		Buffer.from(metadata),
		leaves
	]);
	return { head, contents, dataBytes };
}

/** Returns the ids of all tiles of the area, ascending. @throws Refused if there are too many */
function listTiles([west, south, east, north]: Bounds, minZoom: number, maxZoom: number): number[] {
	const ids: number[] = [];
	for (let zoom = minZoom; zoom <= maxZoom; zoom += 1) {
		const count = 2 ** zoom;
		const column = (lon: number) => Math.min(count - 1, Math.floor(((lon + 180) / 360) * count));
		const row = (lat: number) => {
			const angle = (lat * Math.PI) / 180;
			return Math.floor(((1 - Math.asinh(Math.tan(angle)) / Math.PI) / 2) * count);
		};
		const [left, right, top, bottom] = [column(west), column(east), row(north), row(south)];
		if (ids.length + (right - left + 1) * (bottom - top + 1) > MAX_TILES) {
			throw refuse('The area is too large: use one city, at most about 2 by 2 degrees.');
		}
		for (let x = left; x <= right; x += 1) {
			for (let y = top; y <= bottom; y += 1) ids.push(zxyToTileId(zoom, x, y));
		}
	}
	return ids.sort((a, b) => a - b);
}

/** Looks a tile up as readers do, through at most three levels of directories. */
async function findEntry(cache: SharedPromiseCache, source: Source, header: Header, id: number) {
	let [offset, length] = [header.rootDirectoryOffset, header.rootDirectoryLength];
	for (let level = 0; level <= 3; level += 1) {
		const entry = findTile(await cache.getDirectory(source, offset, length, header), id);
		if (!entry || entry.runLength > 0) return entry;
		[offset, length] = [header.leafDirectoryOffset + entry.offset, entry.length];
	}
	return null;
}

/** Reads the tiles into a file that begins with the head; a file of an earlier run is continued. */
async function fetchTiles(source: Source, { head, contents, dataBytes }: Plan, file: string): Promise<void> {
	const handle = await open(file, (await exists(file)) ? 'r+' : 'w+');
	try {
		const start = Buffer.alloc(head.length);
		const { bytesRead } = await handle.read(start, 0, head.length, 0);
		const isSame = bytesRead === head.length && start.equals(head);
		if (!isSame) {
			await handle.truncate(0);
			await handle.write(head, 0, head.length, 0);
		}
		let done = isSame ? (await handle.stat()).size - head.length : 0;
		let at = 0;
		let skipped = 0;
		while (at < contents.length && skipped + (contents[at]?.length ?? 0) <= done) {
			skipped += contents[at]?.length ?? 0;
			at += 1;
		}
		done = skipped;
		while (at < contents.length) {
			const { from, until, next } = joinRequests(contents, at);
			const { data } = await source.getBytes(from, until - from);
			if (data.byteLength < until - from) throw new Error('the answer is too short');
			const tiles = contents
				.slice(at, next)
				.map(({ offset, length }) => Buffer.from(data, offset - from, length));
			const bytes = Buffer.concat(tiles);
			await handle.write(bytes, 0, bytes.length, head.length + done);
			done += bytes.length;
			at = next;
			console.error(`${formatSize(done)} of ${formatSize(dataBytes)}`);
		}
		await handle.truncate(head.length + dataBytes);
		await handle.sync();
	} finally {
		await handle.close();
	}
}

const exists = (file: string): Promise<boolean> =>
	stat(file).then(
		() => true,
		() => false
	);

/** Joins the tiles that follow each other closely in the source into one request. */
function joinRequests(contents: Plan['contents'], first: number) {
	const { offset: from = 0, length = 0 } = contents[first] ?? {};
	let until = from + length;
	let next = first + 1;
	for (; next < contents.length; next += 1) {
		const { offset = 0, length = 0 } = contents[next] ?? {};
		if (offset < until || offset - until > GAP_BYTES || offset + length - from > REQUEST_BYTES) break;
		until = offset + length;
	}
	return { from, until, next };
}

/** Encodes the directories (PMTiles specification, version 3, section 4), with leaves where the root is too large. */
function encodeDirectories(entries: readonly Entry[]): { root: Buffer; leaves: Buffer } {
	const whole = encodeDirectory(entries);
	if (whole.length <= MAX_ROOT_BYTES) return { root: whole, leaves: Buffer.alloc(0) };
	const parts: Buffer[] = [];
	const pointers: Entry[] = [];
	let offset = 0;
	for (let first = 0; first < entries.length; first += LEAF_ENTRIES) {
		const leaf = encodeDirectory(entries.slice(first, first + LEAF_ENTRIES));
		pointers.push({ tileId: entries[first]?.tileId ?? 0, offset, length: leaf.length, runLength: 0 });
		parts.push(leaf);
		offset += leaf.length;
	}
	return { root: encodeDirectory(pointers), leaves: Buffer.concat(parts) };
}

function encodeDirectory(entries: readonly Entry[]): Buffer {
	const bytes: number[] = [];
	const write = (value: number) => {
		let rest = value;
		for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
		bytes.push(rest);
	};
	write(entries.length);
	entries.forEach(({ tileId }, index) => write(tileId - (entries[index - 1]?.tileId ?? 0)));
	for (const { runLength } of entries) write(runLength);
	for (const { length } of entries) write(length);
	entries.forEach(({ offset }, index) => {
		const before = entries[index - 1];
		write(before && offset === before.offset + before.length ? 0 : offset + 1);
	});
	return gzipSync(Buffer.from(bytes));
}

interface NewHeader {
	bounds: Bounds;
	maxZoom: number;
	dataBytes: number;
	addressed: number;
	entries: number;
	contents: number;
	lengths: [root: number, metadata: number, leaves: number];
}

/** Encodes the header (PMTiles specification, version 3, section 3). */
function encodeHeader(source: Header, { bounds, lengths, ...facts }: NewHeader): Buffer {
	const [root, metadata, leaves] = lengths;
	const header = Buffer.alloc(HEADER_BYTES);
	header.write('PMTiles', 0, 'latin1');
	header[7] = 3;
	const metadataAt = HEADER_BYTES + root;
	const leavesAt = metadataAt + metadata;
	[
		...[HEADER_BYTES, root, metadataAt, metadata, leavesAt, leaves, leavesAt + leaves],
		...[facts.dataBytes, facts.addressed, facts.entries, facts.contents]
	].forEach((value, index) => header.writeBigUInt64LE(BigInt(value), 8 + 8 * index));
	const isClustered = 1;
	header.set(
		[isClustered, Compression.Gzip, source.tileCompression, source.tileType, source.minZoom, facts.maxZoom],
		96
	);
	const [west, south, east, north] = bounds;
	const write = (degrees: number, at: number) => header.writeInt32LE(Math.round(degrees * 1e7), at);
	bounds.forEach((degrees, index) => write(degrees, 102 + 4 * index));
	header[118] = facts.maxZoom;
	write((west + east) / 2, 119);
	write((south + north) / 2, 123);
	return header;
}
