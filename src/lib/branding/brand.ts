export interface ShownBrand {
	name: string | null;
	/** Phone number that buyers can call. */
	contact: string | null;
	/** The router's name: the logo's text alternative if no brand name is set. */
	routerName: string;
	/** Path on this host; size in pixels. */
	logo: { url: string; width: number; height: number } | null;
}

/** CSS pixels. */
const LOGO_HEIGHT = 36;
const LOGO_MAX_WIDTH = 144;

/** Returns the logo's size in CSS pixels before it loads, so that the page does not shift. */
export function logoBox(
	{ width, height }: { width: number; height: number },
	tall = LOGO_HEIGHT,
	widest = LOGO_MAX_WIDTH
): { width: number; height: number } {
	const scale = Math.min(tall / height, widest / width);
	return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}
