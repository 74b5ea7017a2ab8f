import sharp from 'sharp';

interface Pixels {
	/** RGBA, row by row */
	data: Uint8ClampedArray;
	width: number;
	height: number;
}

interface Crop {
	left: number;
	top: number;
	width: number;
	height: number;
}

/** Reads the pixels of a screenshot. `shrink` averages squares of that side, as a camera with fewer pixels does. */
export async function readPixels(
	picture: Buffer,
	{ shrink = 1, crop }: { shrink?: number; crop?: Crop } = {}
): Promise<Pixels> {
	const { width } = crop ?? (await sharp(picture).metadata());
	const whole = crop ? sharp(picture).extract(crop) : sharp(picture);
	const { data, info } = await whole
		.resize({ width: Math.floor(width / shrink), kernel: 'linear' })
		.ensureAlpha()
		.raw()
		.toBuffer({ resolveWithObject: true });
	return { data: new Uint8ClampedArray(data), width: info.width, height: info.height };
}
