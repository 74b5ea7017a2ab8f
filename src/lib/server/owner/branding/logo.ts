/** A logo that has been read and written anew: none of a stranger's bytes is passed on unread. */
export interface LogoPicture {
	type: 'image/png' | 'image/svg+xml';
	extension: 'png' | 'svg';
	bytes: Buffer;
	/** Pixels, or units of the drawing. */
	width: number;
	height: number;
}

/** Bytes of a file that is sent. It travels to phones on slow links, though after everything that is needed. */
export const MAX_LOGO_BYTES = 48 * 1024;
/** Pixels */
export const MAX_LOGO_SIDE = 1_000;
/** A logo stands beside a name: neither a column nor a banner. */
export const MAX_LOGO_RATIO = 8;

/** Why a file cannot be a logo; the message is for the owner. */
export class LogoRefused extends Error {
	constructor(message: string) {
		super(message);
		this.name = 'LogoRefused';
	}
}
