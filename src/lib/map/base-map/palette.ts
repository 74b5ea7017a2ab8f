/** The style sheet's colours of the base map for the current theme. */
const NAMES = [
	'land',
	'water',
	'park',
	'built',
	'road',
	'edge',
	'border',
	'grid',
	'label',
	'water-label'
] as const;

export type Palette = Record<(typeof NAMES)[number], string>;

export function readPalette(element: Element): Palette {
	const style = getComputedStyle(element);
	const colours = NAMES.map((name) => [name, style.getPropertyValue(`--map-${name}`).trim()]);
	return Object.fromEntries(colours) as Palette;
}
