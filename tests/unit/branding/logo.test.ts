/** Uploaded logos: which files are accepted, and which picture is stored for them. */
import { randomBytes } from 'node:crypto';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { drawLogo } from '#lib/server/branding.ts';
import { pngOf, strangePngs, SVG } from '../../support/pages/logos.ts';

const MARKER = 'secret place';
const plain = (width: number, height: number) =>
	sharp({ create: { width, height, channels: 3, background: '#0a6b4b' } });
const formatOf = async (bytes: Buffer) => (await sharp(bytes).metadata()).format;

describe('an uploaded logo', () => {
	it.each(['png', 'jpeg', 'webp'] as const)('may be a %s file and becomes a PNG', async (format) => {
		const { bytes, ...size } = await drawLogo(await plain(30, 20).toFormat(format).toBuffer());
		expect(size).toEqual({ width: 30, height: 20 });
		expect(await formatOf(bytes)).toBe('png');
	});

	it('is shrunk and keeps its shape', async () => {
		expect(await drawLogo(await plain(1200, 600).png().toBuffer())).toMatchObject({
			width: 480,
			height: 240
		});
	});

	it('takes at most 48 KB, however detailed it is', async () => {
		const noise = sharp(randomBytes(240 * 240 * 3), { raw: { width: 240, height: 240, channels: 3 } });
		const { bytes, width } = await drawLogo(await noise.png().toBuffer());
		expect(bytes.length).toBeLessThanOrEqual(48 * 1024);
		expect(width).toBe(160);
	});

	it('may be a photo of several megabytes', async () => {
		const side = 1800;
		const photo = sharp(randomBytes(side * side * 3), { raw: { width: side, height: side, channels: 3 } });
		const upload = await photo.jpeg({ quality: 90 }).toBuffer();
		expect(upload.length).toBeGreaterThan(2 * 1024 ** 2);
		expect((await drawLogo(upload)).bytes.length).toBeLessThanOrEqual(48 * 1024);
	});

	it('is turned upright and loses its metadata', async () => {
		const photo = await plain(40, 20)
			.withMetadata({ orientation: 6 })
			.withExifMerge({ IFD0: { Copyright: MARKER } })
			.jpeg()
			.toBuffer();
		expect(photo.includes(MARKER)).toBe(true);
		const { bytes, ...size } = await drawLogo(photo);
		expect(size).toEqual({ width: 20, height: 40 });
		expect(bytes.includes(MARKER)).toBe(false);
	});

	it.each(Object.entries(strangePngs().sound))('may be an unusual PNG: %s', async (_kind, file) => {
		const { bytes } = await drawLogo(file);
		expect(await formatOf(bytes)).toBe('png');
		expect(bytes.includes(MARKER)).toBe(false);
	});

	it.each(Object.entries(strangePngs().refused))('is refused: %s', async (_kind, file) => {
		await expect(drawLogo(file)).rejects.toMatchObject({
			name: 'Refused',
			reason: expect.stringMatching(/^logo_/)
		});
	});

	it('is refused if it is no PNG, JPEG or WebP, whatever its name says', async () => {
		const gif = await plain(9, 9)
			.gif()
			.toBuffer()
			.catch(() => Buffer.from('GIF89a'));
		for (const file of [
			Buffer.alloc(0),
			gif,
			Buffer.from('{"a":1}'),
			Buffer.from('\xff\xd8\xff', 'latin1')
		]) {
			await expect(drawLogo(file)).rejects.toThrow('logo_unreadable');
		}
	});

	it('is refused as SVG with the way out', async () => {
		await expect(drawLogo(Buffer.from(SVG))).rejects.toThrow('logo_svg');
	});

	it('is refused above each limit', async () => {
		await expect(drawLogo(Buffer.alloc(5 * 1024 ** 2 + 1))).rejects.toThrow('logo_large');
		await expect(drawLogo(await plain(5000, 4000).png().toBuffer())).rejects.toThrow('logo_pixels');
		await expect(drawLogo(pngOf(90, 10))).rejects.toThrow('logo_narrow');
	});
});
