/** The QR codes of pages, drawn pixel by pixel and decoded by another library. */
import jsQR from 'jsqr';

export const pixelsPerModule = 4;

const CODE = /viewBox="0 0 (\d+) \1"(?:(?!<\/svg>).)*stroke="#000000" d="([^"]*)"/s;

/** Paints the SVG: a white square, then black strokes one module wide (`M`, `m` and `h` of its path). */
export function drawQr(html: string): { data: Uint8ClampedArray; size: number } {
	const [, width, path = ''] = CODE.exec(html) ?? [];
	const modules = Number(width);
	const size = modules * pixelsPerModule;
	const data = new Uint8ClampedArray(size * size * 4).fill(255);
	const steps = [...path.matchAll(/([Mmh])([\d.]+)(?: ([\d.]+))?/g)];
	if (steps.map(([text]) => text).join('') !== path) throw new Error(`An unknown path: ${path}`);
	let [x, y] = [0, 0];
	for (const [, command, first = '', second = ''] of steps) {
		if (command === 'M') [x, y] = [Number(first), Number(second)];
		else if (command === 'm') [x, y] = [x + Number(first), y + Number(second)];
		else {
			const [left, right] = [x, x + Number(first)].map((at) => at * pixelsPerModule);
			const top = (y - 0.5) * pixelsPerModule;
			for (let row = top; row < top + pixelsPerModule; row += 1) {
				for (let column = left ?? 0; column < (right ?? 0); column += 1) {
					const pixel = (row * size + column) * 4;
					data.fill(0, pixel, pixel + 3);
				}
			}
			x += Number(first);
		}
	}
	return { data, size };
}

/** @returns the text of the code in a page, as a camera reads it */
export function readQr(html: string): string | undefined {
	const { data, size } = drawQr(html);
	return jsQR(data, size, size, { inversionAttempts: 'dontInvert' })?.data;
}
