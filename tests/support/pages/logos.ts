/** Pictures that owners upload: sound ones, and files made to do harm. */
import { Buffer } from 'node:buffer';
import { crc32, deflateSync } from 'node:zlib';

export const SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9v9z"/></svg>';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function chunk(type: string, data: Buffer): Buffer {
	const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
	const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
	length.writeUInt32BE(data.length);
	sum.writeUInt32BE(crc32(named));
	return Buffer.concat([length, named, sum]);
}

function header(width: number, height: number, depth = 8, colour = 6, interlace = 0): Buffer {
	const data = Buffer.alloc(13);
	data.writeUInt32BE(width, 0);
	data.writeUInt32BE(height, 4);
	data.set([depth, colour, 0, 0, interlace], 8);
	return chunk('IHDR', data);
}

const END = chunk('IEND', Buffer.alloc(0));
const picture = (raw: Buffer) => chunk('IDAT', deflateSync(raw));
const file = (...chunks: Buffer[]) => Buffer.concat([SIGNATURE, ...chunks]);

/** A picture of one colour. */
export function pngOf(width: number, height: number): Buffer {
	const row = Buffer.concat([Buffer.alloc(1), Buffer.alloc(width * 4, 0x7f)]);
	return file(header(width, height), picture(Buffer.concat(Array.from({ length: height }, () => row))), END);
}

/** Unusual PNG files that must be accepted, and those that must be refused. */
export function strangePngs() {
	const raw = Buffer.alloc(4 * 17);
	const text = chunk('tEXt', Buffer.from('Comment\0secret place'));
	const broken = pngOf(4, 4);
	broken[40] = (broken[40] ?? 0) ^ 0xff;
	const sound = {
		withText: file(header(4, 4), text, picture(raw), END),
		withTail: Buffer.concat([pngOf(4, 4), Buffer.from('<script>secret place</script>')]),
		// 3 x 3 pixels of one byte (ISO/IEC 15948, 8.2): rows of 1, 1, 2, 1, 1 and 3 pixels, each with its filter.
		interlaced: file(header(3, 3, 8, 0, 1), picture(Buffer.alloc(15)), END),
		withoutEnd: file(header(4, 4), picture(raw)),
		withTooMuchData: file(header(4, 4), picture(Buffer.alloc(1_000_000)), END),
		palette: file(header(9, 2, 1, 3), chunk('PLTE', Buffer.alloc(6)), picture(Buffer.alloc(6)), END)
	};
	const refused = {
		'huge dimensions': file(header(30_000, 30_000), picture(raw), END),
		'dimensions beyond numbers': file(header(0xffffffff, 0xffffffff), picture(raw), END),
		'less picture than its size': file(header(40, 40), picture(raw), END),
		'no size': file(header(0, 4), picture(raw), END),
		'two sizes': file(header(4, 4), header(4, 4), picture(raw), END),
		'a kind that is unknown': file(header(4, 4, 3, 6), picture(raw), END),
		'cut in the middle': pngOf(4, 4).subarray(0, 50),
		'a wrong checksum': broken,
		'a picture that cannot be unpacked': file(header(4, 4), chunk('IDAT', Buffer.from('nonsense')), END),
		'a palette that is missing': file(header(9, 2, 1, 3), picture(Buffer.alloc(6)), END),
		'nothing but its signature': file()
	};
	return { sound, refused };
}
