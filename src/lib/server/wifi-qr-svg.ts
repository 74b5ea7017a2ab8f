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
		for (let x = 0; x < modules.size; x += 1) {
			if (!modules.get(y, x)) continue;
			let width = 1;
			while (x + width < modules.size && modules.get(y, x + width)) width += 1;
			path += `M${x + quiet} ${y + quiet}h${width}v1h-${width}z`;
			x += width - 1;
		}
	}
	return (
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">` +
		`<path fill="#fff" d="M0 0h${size}v${size}H0z"/><path fill="#000" d="${path}"/></svg>`
	);
}
