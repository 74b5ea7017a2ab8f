import QRCode from 'qrcode';

/**
 * A QR code as SVG markup: black on white with a quiet zone, sized by its container.
 * @param text what a camera reads, e.g. from wifi-qr.ts
 */
export function qrSvg(text: string): string {
	const { modules } = QRCode.create(text, { errorCorrectionLevel: 'M' });
	const quiet = 4;
	const size = modules.size + 2 * quiet;
	let path = '';
	for (let y = 0; y < modules.size; y += 1) {
		path += `M${quiet} ${y + quiet + 0.5}`;
		// Runs of one colour: drawn as a stroke when dark, skipped when light.
		for (let x = 0; x < modules.size;) {
			const dark = Boolean(modules.get(y, x));
			let width = 1;
			while (x + width < modules.size && Boolean(modules.get(y, x + width)) === dark) width += 1;
			path += dark ? `h${width}` : `m${width} 0`;
			x += width;
		}
	}
	return (
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">` +
		`<path fill="#fff" d="M0 0h${size}v${size}H0z"/><path stroke="#000" d="${path}"/></svg>`
	);
}
