import QRCode from 'qrcode';

/** Draws the QR code of an address, or of a network from domain/wifi.ts. Its container sets the size. */
export function qrSvg(text: string): string {
	let svg = '';
	// With a callback it draws at once.
	QRCode.toString(text, { type: 'svg', errorCorrectionLevel: 'M', margin: QUIET_MODULES }, (error, drawn) => {
		if (error) throw error;
		svg = drawn;
	});
	return svg;
}

/** Quiet zone on every side (ISO/IEC 18004). */
const QUIET_MODULES = 4;
