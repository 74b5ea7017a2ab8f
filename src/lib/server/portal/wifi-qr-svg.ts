import QRCode from 'qrcode';
import { qrPath, qrSide, type QrCode } from '#lib/format/qr.ts';

/** Encodes an address, or a network from wifi-qr.ts, for Qr.svelte. */
export function qrCode(text: string): QrCode {
	const { modules } = QRCode.create(text, { errorCorrectionLevel: 'M' });
	let bits = '';
	let digit = 0;
	const count = modules.size * modules.size;
	for (let index = 0; index < Math.ceil(count / 4) * 4; index += 1) {
		const dark = index < count && modules.data[index] === 1;
		digit = (digit << 1) | (dark ? 1 : 0);
		if (index % 4 === 3) {
			bits += digit.toString(16);
			digit = 0;
		}
	}
	return { size: modules.size, bits };
}

/** Draws a black QR code on white with a quiet zone. Its container sets the size. */
export function qrSvg(text: string): string {
	const code = qrCode(text);
	const side = qrSide(code);
	return (
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${side} ${side}" shape-rendering="crispEdges">` +
		`<path fill="#fff" d="M0 0h${side}v${side}H0z"/><path stroke="#000" d="${qrPath(code)}"/></svg>`
	);
}
