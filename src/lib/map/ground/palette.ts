/** The style sheet's colours of the base map for the current theme. */
export interface Palette {
	land: string;
	water: string;
	park: string;
	built: string;
	road: string;
	edge: string;
	border: string;
	grid: string;
	label: string;
	waterLabel: string;
}

export function readPalette(element: Element): Palette {
	const style = getComputedStyle(element);
	const of = (name: string) => style.getPropertyValue(`--map-${name}`).trim();
	return {
		land: of('land'),
		water: of('water'),
		park: of('park'),
		built: of('built'),
		road: of('road'),
		edge: of('edge'),
		border: of('border'),
		grid: of('grid'),
		label: of('label'),
		waterLabel: of('water-label')
	};
}
