export interface QrCode {
	/** Modules on a side, without the quiet zone. */
	size: number;
	/** Modules row by row, four in each hex digit; 1 is dark. */
	bits: string;
}

/** Quiet zone on every side, in modules (ISO/IEC 18004). */
const QUIET = 4;

export const qrSide = ({ size }: QrCode): number => size + 2 * QUIET;

/** Returns the SVG path of the dark modules, for a stroke of one unit. */
export function qrPath({ size, bits }: QrCode): string {
	const isDark = (index: number) =>
		((Number.parseInt(bits.charAt(index >> 2), 16) >> (3 - (index & 3))) & 1) === 1;
	let path = '';
	for (let y = 0; y < size; y += 1) {
		path += `M${QUIET} ${y + QUIET + 0.5}`;
		for (let x = 0; x < size;) {
			const dark = isDark(y * size + x);
			let width = 1;
			while (x + width < size && isDark(y * size + x + width) === dark) width += 1;
			path += dark ? `h${width}` : `m${width} 0`;
			x += width;
		}
	}
	return path;
}
