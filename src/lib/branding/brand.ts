/** What a page shows of a router's owner. */
export interface ShownBrand {
	name: string | null;
	/** The router's own name: what a logo stands for where no other name is set. */
	place: string;
	/** A picture of our own host, with the measures of its frame. */
	logo: { url: string; width: number; height: number } | null;
}

/** Height of a logo on a page, in CSS pixels, and the widest that it may become. */
export const LOGO_HEIGHT = 36;
const LOGO_MAX_WIDTH = 144;

/** Width and height at which a logo is drawn: known before it comes, so that nothing moves then. */
export function logoBox(
	{ width, height }: { width: number; height: number },
	tall = LOGO_HEIGHT,
	widest = LOGO_MAX_WIDTH
): { width: number; height: number } {
	const scale = Math.min(tall / height, widest / width);
	return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}
