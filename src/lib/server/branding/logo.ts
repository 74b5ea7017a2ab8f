import { Refusal } from '#lib/server/platform/errors.ts';

/** A PNG that we drew from the upload. */
export interface LogoPicture {
	bytes: Buffer;
	/** Pixels. */
	width: number;
	height: number;
}

/** src/server.js lets forms with somewhat larger files through, so that their owners get a reason. */
export const MAX_UPLOAD_BYTES = 5 * 1024 ** 2;
/** A small compressed file can hold a huge picture; 16 megapixels take 64 MB to shrink. */
export const MAX_UPLOAD_SIDE = 4096;
const MAX_UPLOAD_PIXELS = MAX_UPLOAD_SIDE ** 2;
/** A buyer's phone loads the logo over a slow link. */
const MAX_LOGO_BYTES = 48 * 1024;
/** Tried from the largest. The first one that fits into MAX_LOGO_BYTES is stored. */
const SIDES_PIXELS = [480, 320, 160, 96] as const;
/** Longest side by shortest side, because a logo is shown beside a name. */
const MAX_RATIO = 8;
const TIMEOUT_SECONDS = 5;
/** From 1 to 10. The default 7 takes ten times as long for a noisy photo, and the file is no smaller. */
const PALETTE_EFFORT = 3;

/** The last drawing. One runs at a time, because each takes much memory and a core. */
let last: Promise<LogoPicture | undefined> = Promise.resolve(undefined);

export type LogoProblem =
	'logo_large' | 'logo_pixels' | 'logo_narrow' | 'logo_details' | 'logo_svg' | 'logo_unreadable';

/** The upload cannot become a logo. */
export class LogoRefused extends Refusal<LogoProblem> {}

/**
 * Draws the upload as one small PNG without metadata.
 * SVG is refused: librsvg ignores sharp's timeout, and a file of 2 KB (nested `use` of a blurred shape) kept
 * a core busy for minutes.
 * @throws LogoRefused
 */
export function drawLogo(upload: Buffer): Promise<LogoPicture> {
	const draw = () => drawNow(upload);
	const drawing = last.then(draw, draw);
	last = drawing;
	return drawing;
}

async function drawNow(upload: Buffer): Promise<LogoPicture> {
	if (upload.length > MAX_UPLOAD_BYTES) throw new LogoRefused('logo_large');
	const sharp = await loadSharp();
	const { autoOrient: size } = await readable(upload, () =>
		sharp(upload, { limitInputPixels: false }).metadata()
	);
	if (size.width * size.height > MAX_UPLOAD_PIXELS) throw new LogoRefused('logo_pixels');
	const ratio = size.width / size.height;
	if (ratio > MAX_RATIO || ratio < 1 / MAX_RATIO) throw new LogoRefused('logo_narrow');
	for (const side of SIDES_PIXELS) {
		const { data, info } = await readable(upload, () =>
			sharp(upload, { limitInputPixels: MAX_UPLOAD_PIXELS })
				.autoOrient()
				.resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
				.timeout({ seconds: TIMEOUT_SECONDS })
				.png({ palette: true, effort: PALETTE_EFFORT })
				.toBuffer({ resolveWithObject: true })
		);
		if (data.length <= MAX_LOGO_BYTES) return { bytes: data, width: info.width, height: info.height };
	}
	throw new LogoRefused('logo_details');
}

/** Loads sharp with the three readers that a logo needs. Other formats of libvips stay disabled. */
async function loadSharp() {
	const { default: sharp } = await import('sharp');
	sharp.block({ operation: ['VipsForeignLoad'] });
	sharp.unblock({
		operation: ['VipsForeignLoadPngBuffer', 'VipsForeignLoadJpegBuffer', 'VipsForeignLoadWebpBuffer']
	});
	return sharp;
}

async function readable<T>(upload: Buffer, read: () => Promise<T>): Promise<T> {
	try {
		return await read();
	} catch {
		throw new LogoRefused(upload.includes('<svg') ? 'logo_svg' : 'logo_unreadable');
	}
}
