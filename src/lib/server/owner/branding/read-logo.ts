import { LogoRefused, MAX_LOGO_BYTES, MAX_LOGO_RATIO, type LogoPicture } from './logo.ts';
import { isPng, readPng } from './png.ts';
import { isSvg, readSvg } from './svg.ts';

/**
 * The picture in a file that somebody sent. What it is says its content, not its name.
 * @throws LogoRefused
 */
export async function readLogo(bytes: Buffer): Promise<LogoPicture> {
	if (bytes.length > MAX_LOGO_BYTES) {
		const kilobytes = Math.ceil(bytes.length / 1024);
		throw new LogoRefused(`This file has ${kilobytes} KB. Use one of at most ${MAX_LOGO_BYTES / 1024} KB.`);
	}
	const picture = isPng(bytes) ? await readPng(bytes) : isSvg(bytes) ? readSvg(bytes) : null;
	if (!picture) throw new LogoRefused('This is neither an SVG nor a PNG file.');
	const ratio = picture.width / picture.height;
	if (ratio > MAX_LOGO_RATIO || ratio < 1 / MAX_LOGO_RATIO) {
		throw new LogoRefused('This picture is too long and narrow for a logo.');
	}
	return picture;
}
