import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import type { Clock } from '../platform/clock.ts';
import type { TileName, Validators } from './tile-server.ts';

/**
 * Tiles on the disk: one file each, a line of JSON before the picture. The time of a file's last change is when it
 * was last used, so that the order in which they go outlives the process, and several processes share a folder.
 */
export interface TileCache {
	/** null when it is not there, or cannot be read. */
	read(tile: TileName): Promise<CachedTile | null>;
	write(tile: TileName, cached: CachedTile): Promise<void>;
	forget(tile: TileName): Promise<void>;
}

export interface CachedTile extends Validators {
	type: string;
	/** Until then it is used without asking. */
	freshUntil: number;
	body: Buffer;
}

/** After writing this part of the limit, the folder is looked through. */
const LOOK_AFTER = 0.05;
/** And when it is too full, emptied down to this part. */
const KEEP = 0.9;
/** Uses closer together than this count as one. */
const USE_MS = 60 * 1000;
const NEW_LINE = 0x0a;
/** A file takes whole blocks of the disk, and most tiles of the sea have a hundred bytes. */
const BLOCK_BYTES = 4096;
const roomOf = (bytes: number) => Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;

interface Entry {
	file: string;
	bytes: number;
	usedAt: number;
}

/** @param template tells the tiles of one provider from those of another, which go when room is needed */
export function createTileCache(
	folder: string,
	options: { template: string; maxBytes: number; clock: Clock }
): TileCache {
	const { template, maxBytes, clock } = options;
	const own = path.join(folder, createHash('sha256').update(template).digest('hex').slice(0, 16));
	/** Bytes since the last look; a new process looks at its first tile. */
	let written = Number.POSITIVE_INFINITY;
	let looking: Promise<void> | null = null;
	let names = 0;

	const fileOf = ({ z, x, y }: TileName) => path.join(own, String(z), `${x}-${y}.tile`);

	async function markUsed(file: string, now: number): Promise<void> {
		const { mtimeMs } = await stat(file);
		if (Math.abs(now - mtimeMs) > USE_MS) await utimes(file, now / 1000, now / 1000);
	}

	async function look(): Promise<void> {
		written = 0;
		const entries = await entriesIn(folder);
		let total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
		if (total <= maxBytes) return;
		entries.sort((a, b) => a.usedAt - b.usedAt);
		for (const { file, bytes } of entries) {
			if (total <= KEEP * maxBytes) break;
			await rm(file, { force: true });
			total -= bytes;
		}
	}

	return {
		async read(tile) {
			const file = fileOf(tile);
			try {
				const whole = await readFile(file);
				const end = whole.indexOf(NEW_LINE);
				const head = JSON.parse(whole.subarray(0, end).toString('utf8')) as Omit<CachedTile, 'body'>;
				await markUsed(file, clock.now());
				return { ...head, body: whole.subarray(end + 1) };
			} catch {
				return null;
			}
		},
		async write(tile, { body, ...head }) {
			const file = fileOf(tile);
			names += 1;
			const aside = `${file}.${process.pid}-${names}`;
			const now = clock.now() / 1000;
			await mkdir(path.dirname(file), { recursive: true });
			try {
				const whole = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body]);
				await writeFile(aside, whole);
				await utimes(aside, now, now);
				await rename(aside, file);
				written += roomOf(whole.length);
			} finally {
				await rm(aside, { force: true });
			}
			if (written < LOOK_AFTER * maxBytes) return;
			looking ??= look().finally(() => (looking = null));
			await looking;
		},
		async forget(tile) {
			await rm(fileOf(tile), { force: true });
		}
	};
}

async function entriesIn(folder: string): Promise<Entry[]> {
	const found = await readdir(folder, { recursive: true, withFileTypes: true });
	const entries: Entry[] = [];
	for (const one of found) {
		if (!one.isFile()) continue;
		const file = path.join(one.parentPath, one.name);
		try {
			const { size, mtimeMs } = await stat(file);
			entries.push({ file, bytes: roomOf(size), usedAt: mtimeMs });
		} catch {
			// Another process was faster.
		}
	}
	return entries;
}
