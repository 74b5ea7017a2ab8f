import { crc32, inflate } from 'node:zlib';
import { promisify } from 'node:util';
import { LogoRefused, MAX_LOGO_SIDE, type LogoPicture } from './logo.ts';

/**
 * Reads a PNG (ISO/IEC 15948) as a stranger's file: every chunk is measured and its checksum taken, the picture is
 * unpacked once within the bounds that its header promises, and only the chunks that draw it are kept. So no text,
 * no colour profile, no second picture and nothing behind the end travels on.
 */
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const KEPT: readonly string[] = ['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND'];

/** Allowed bit depths of each colour type, and how many values a pixel has. */
const KINDS: Readonly<Record<number, { depths: readonly number[]; values: number }>> = {
	0: { depths: [1, 2, 4, 8, 16], values: 1 },
	2: { depths: [8, 16], values: 3 },
	3: { depths: [1, 2, 4, 8], values: 1 },
	4: { depths: [8, 16], values: 2 },
	6: { depths: [8, 16], values: 4 }
};

const unpack = promisify(inflate);

export const isPng = (bytes: Buffer): boolean => bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE);

const broken = (what: string) => new LogoRefused(`This PNG file is broken: ${what}.`);

interface Chunk {
	type: string;
	data: Buffer;
	/** With its length and checksum. */
	whole: Buffer;
}

function chunksOf(bytes: Buffer): Chunk[] {
	const chunks: Chunk[] = [];
	let at = SIGNATURE.length;
	while (at < bytes.length) {
		if (at + 12 > bytes.length) throw broken('it ends too early');
		const length = bytes.readUInt32BE(at);
		const end = at + 12 + length;
		if (end > bytes.length) throw broken('a part is longer than the file');
		const type = bytes.toString('latin1', at + 4, at + 8);
		if (crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) {
			throw broken('a checksum is wrong');
		}
		chunks.push({ type, data: bytes.subarray(at + 8, end - 4), whole: bytes.subarray(at, end) });
		if (type === 'IEND') break;
		at = end;
	}
	return chunks;
}

/** Bytes of the unpacked picture, by rows with their filter byte; interlaced ones in seven passes. */
function rawBytes(width: number, height: number, bitsPerPixel: number, interlaced: boolean): number {
	const pass = (columns: number, rows: number) =>
		columns === 0 ? 0 : rows * (1 + Math.ceil((columns * bitsPerPixel) / 8));
	if (!interlaced) return pass(width, height);
	const steps = [
		[0, 8, 0, 8],
		[4, 8, 0, 8],
		[0, 4, 4, 8],
		[2, 4, 0, 4],
		[0, 2, 2, 4],
		[1, 2, 0, 2],
		[0, 1, 1, 2]
	] as const;
	return steps.reduce(
		(sum, [x, dx, y, dy]) =>
			sum + pass(Math.ceil(Math.max(0, width - x) / dx), Math.ceil(Math.max(0, height - y) / dy)),
		0
	);
}

/** @throws LogoRefused */
export async function readPng(bytes: Buffer): Promise<LogoPicture> {
	const chunks = chunksOf(bytes);
	const [first] = chunks;
	if (first?.type !== 'IHDR' || first.data.length !== 13) throw broken('it does not begin with its size');
	if (chunks.filter(({ type }) => type === 'IHDR').length > 1) throw broken('it has two sizes');
	if (chunks.at(-1)?.type !== 'IEND') throw broken('it has no end');
	const [width, height] = [first.data.readUInt32BE(0), first.data.readUInt32BE(4)];
	const header = first.data;
	const [depth, colour] = [header.readUInt8(8), header.readUInt8(9)];
	const [compression, filter, interlace] = [header.readUInt8(10), header.readUInt8(11), header.readUInt8(12)];
	if (width === 0 || height === 0) throw broken('it has no size');
	if (width > MAX_LOGO_SIDE || height > MAX_LOGO_SIDE) {
		throw new LogoRefused(
			`This picture is ${width} × ${height} pixels. Use one of at most ${MAX_LOGO_SIDE} × ${MAX_LOGO_SIDE}.`
		);
	}
	const kind = KINDS[colour];
	if (!kind?.depths.includes(depth) || compression !== 0 || filter !== 0 || interlace > 1) {
		throw broken('its kind is unknown');
	}
	if (colour === 3 && !chunks.some(({ type }) => type === 'PLTE')) throw broken('it has no colours');
	const packed = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data));
	const expected = rawBytes(width, height, depth * kind.values, interlace === 1);
	let raw: Buffer;
	try {
		raw = await unpack(packed, { maxOutputLength: expected + 1 });
	} catch {
		throw broken('its picture cannot be unpacked');
	}
	if (raw.length !== expected) throw broken('its picture is not as large as it says');
	const kept = chunks.filter(({ type }) => KEPT.includes(type)).map(({ whole }) => whole);
	return { type: 'image/png', extension: 'png', bytes: Buffer.concat([SIGNATURE, ...kept]), width, height };
}
