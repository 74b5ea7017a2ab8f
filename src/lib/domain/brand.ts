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

/**
 * Derives accent colours from an owner's colour, one per theme, with a contrast of 4.5:1 (WCAG 2.2, 1.4.3).
 * It only darkens or lightens the colour, so the hue stays the owner's.
 */
export interface ThemeColours {
	accent: string;
	onAccent: string;
	/** Background of selected items and success messages. */
	goodPaper: string;
}

export interface Accent {
	light: ThemeColours;
	dark: ThemeColours;
}

type Rgb = readonly [number, number, number];

const MIN_TEXT_CONTRAST = 4.5;
const MIN_INK_CONTRAST = 7;
/** Below this a colour looks like the grey of ordinary text. */
const MIN_SATURATION = 0.12;
const STEPS = 200;

/** Same values as in tokens.css. */
const THEMES = {
	light: { paper: '#fbfaf6', raised: '#ffffff', ink: '#1a1c19', share: 0.1, pole: '#000000' },
	dark: { paper: '#141613', raised: '#1d201c', ink: '#f2f1eb', share: 0.12, pole: '#ffffff' }
} as const;
const ON_ACCENT = ['#ffffff', '#0b1f17'] as const;

/** Parses `#RGB` or `#RRGGBB` to lower-case `#rrggbb`. Returns null for any other text. */
export function parseColour(text: string): string | null {
	const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(text);
	if (short)
		return `#${short
			.slice(1)
			.map((digit) => digit + digit)
			.join('')}`.toLowerCase();
	return /^#[0-9a-f]{6}$/i.test(text) ? text.toLowerCase() : null;
}

const rgbOf = (colour: string): Rgb => {
	const value = Number.parseInt(colour.slice(1), 16);
	return [value >> 16, (value >> 8) & 255, value & 255];
};
const hexOf = (rgb: readonly number[]) =>
	`#${rgb.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;

/** Relative luminance, WCAG 2.2. */
function luminance(colour: string): number {
	const [red, green, blue] = rgbOf(colour).map((part) => {
		const share = part / 255;
		return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
	}) as [number, number, number];
	return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns the contrast ratio of two colours, 1 to 21. */
export function contrast(one: string, other: string): number {
	const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
	return (light + 0.05) / (dark + 0.05);
}

const mixed = (colour: string, ground: string, share: number): string => {
	const under = rgbOf(ground);
	return hexOf(rgbOf(colour).map((part, index) => part * share + (under[index] ?? 0) * (1 - share)));
};

function themeColours(theme: keyof typeof THEMES, accent: string): ThemeColours | null {
	const { paper, raised, ink, share } = THEMES[theme];
	const goodPaper = mixed(accent, raised, share);
	const [white, black] = ON_ACCENT;
	const onAccent = contrast(white, accent) >= contrast(black, accent) ? white : black;
	const holds =
		[paper, raised, goodPaper, onAccent].every((ground) => contrast(accent, ground) >= MIN_TEXT_CONTRAST) &&
		contrast(ink, goodPaper) >= MIN_INK_CONTRAST;
	return holds ? { accent, onAccent, goodPaper } : null;
}

/** Darkens or lightens a colour until every text pair has enough contrast. Returns null if none has. */
function fitted(theme: keyof typeof THEMES, colour: string): ThemeColours | null {
	for (let step = 0; step < STEPS; step += 1) {
		const found = themeColours(theme, mixed(colour, THEMES[theme].pole, 1 - step / STEPS));
		if (found) return found;
	}
	return null;
}

/** Computes the colours of both themes from `#rrggbb`. Returns null for a grey, which looks like text. */
export function accentOf(colour: string): Accent | null {
	const parts = rgbOf(colour).map((part) => part / 255);
	const [most, least] = [Math.max(...parts), Math.min(...parts)];
	const lightness = (most + least) / 2;
	const saturation = most === least ? 0 : (most - least) / (1 - Math.abs(2 * lightness - 1));
	// HSL saturation is meaningless near black and white, where the eye sees no colour.
	const seen = saturation * Math.min(1, 8 * Math.min(lightness, 1 - lightness));
	if (seen < MIN_SATURATION) return null;
	const [light, dark] = [fitted('light', colour), fitted('dark', colour)];
	return light && dark ? { light, dark } : null;
}

const properties = ({ accent, onAccent, goodPaper }: ThemeColours) =>
	`:root{--accent:${accent};--on-accent:${onAccent};--good-paper:${goodPaper}}`;

/** Makes the CSS rules for an owner's colour, or null. They contain parsed hex only: no CSS injection. */
export function accentRules(text: string | null): string | null {
	const colour = text === null ? null : parseColour(text);
	const accent = colour && accentOf(colour);
	if (!accent) return null;
	return `${properties(accent.light)}@media (prefers-color-scheme:dark){${properties(accent.dark)}}`;
}
