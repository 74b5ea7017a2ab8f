import {
	CenteredTextSymbolizer,
	exp,
	GeomType,
	leafletLayer,
	LineLabelSymbolizer,
	LineSymbolizer,
	PolygonSymbolizer,
	type Feature,
	type LabelRule,
	type PaintRule
} from 'protomaps-leaflet';
import L from 'leaflet';

/** Draws the streets of a PMTiles file (Protomaps' basemap schema) in the portal's colours; no businesses. */

/** The style sheet's colours of the map for the current theme. */
const COLOURS = ['land', 'water', 'park', 'built', 'road', 'edge', 'border', 'label', 'water-label'] as const;

type Palette = Record<(typeof COLOURS)[number], string>;

function readPalette(element: Element): Palette {
	const style = getComputedStyle(element);
	const colours = COLOURS.map((name) => [name, style.getPropertyValue(`--map-${name}`).trim()]);
	return Object.fromEntries(colours) as Palette;
}

const PARKS =
	'park forest wood grass grassland scrub nature_reserve national_park protected_area cemetery ' +
	'golf_course garden pitch playground village_green';
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

/** @param kinds separated by blanks */
const oneOf = (kinds: string) => {
	const wanted = kinds.split(' ');
	return (_zoom: number, { props }: Feature) => wanted.includes(String(props['kind'] ?? ''));
};
const isPolygon = (_zoom: number, { geomType }: Feature) => geomType === GeomType.Polygon;

/** Width in pixels by zoom, for each kind of road. */
const ROADS = [
	{ filter: oneOf('path other'), widths: { 14: 0, 15: 0.8, 20: 6 } },
	{ filter: oneOf('minor_road'), widths: { 12: 0, 13: 0.8, 15: 2.5, 18: 11 } },
	{ filter: oneOf('major_road'), widths: { 6: 0, 10: 0.8, 13: 2.5, 15: 5, 18: 15 } },
	{ filter: oneOf('highway'), widths: { 3: 0, 6: 1, 12: 2.5, 15: 6, 18: 18 } }
];
const widthOf = (widths: Record<number, number>) =>
	exp(
		1.6,
		Object.entries(widths).map(([zoom, width]) => [Number(zoom), width])
	);
/** Pixels of a road's edges, both sides together. */
const EDGE = 1.5;

function paintRules(colour: Palette): PaintRule[] {
	const edges = ROADS.map(({ filter, widths }): PaintRule => {
		const width = widthOf(widths);
		return {
			dataLayer: 'roads',
			minzoom: 11,
			symbolizer: new LineSymbolizer({
				color: colour.edge,
				width: (zoom) => (width(zoom) > 0 ? width(zoom) + EDGE : 0)
			}),
			filter
		};
	});
	const roads = ROADS.map(({ filter, widths }): PaintRule => ({
		dataLayer: 'roads',
		symbolizer: new LineSymbolizer({ color: colour.road, width: widthOf(widths) }),
		filter
	}));
	const fill = (colourOf: string) => ({ symbolizer: new PolygonSymbolizer({ fill: colourOf }) });
	return [
		{ dataLayer: 'earth', ...fill(colour.land) },
		{ dataLayer: 'landuse', minzoom: 9, filter: oneOf(PARKS), ...fill(colour.park) },
		{ dataLayer: 'water', filter: isPolygon, ...fill(colour.water) },
		{
			dataLayer: 'water',
			minzoom: 10,
			symbolizer: new LineSymbolizer({ color: colour.water, width: widthOf({ 9: 0.5, 18: 10 }) }),
			filter: oneOf('river canal')
		},
		{ dataLayer: 'buildings', minzoom: 14, ...fill(colour.built) },
		...edges,
		...roads,
		{
			dataLayer: 'roads',
			minzoom: 11,
			symbolizer: new LineSymbolizer({ color: colour.border, width: 1, opacity: 0.6, dash: [4, 3] }),
			filter: oneOf('rail')
		},
		{ dataLayer: 'boundaries', symbolizer: new LineSymbolizer({ color: colour.border, width: 1 }) }
	];
}

function labelRules(colour: Palette, language: string): LabelRule[] {
	const text = (font: string, fill = colour.label, stroke = colour.land) => ({
		...{ labelProps: [`name:${language}`, 'name'], lineHeight: 1.3, width: 1.5 },
		...{ fill, stroke, font: `${font} ${FONT}` }
	});
	const places = (kinds: string, font: string, zooms: Pick<LabelRule, 'minzoom' | 'maxzoom'>): LabelRule => ({
		dataLayer: 'places',
		...zooms,
		symbolizer: new CenteredTextSymbolizer(text(font)),
		filter: oneOf(kinds),
		sort: (a, b) => Number(a['min_zoom'] ?? 20) - Number(b['min_zoom'] ?? 20)
	});
	const roads = (kinds: string, font: string, minzoom: number): LabelRule => ({
		dataLayer: 'roads',
		minzoom,
		symbolizer: new LineLabelSymbolizer(text(font)),
		filter: oneOf(kinds)
	});
	return [
		places('country', '600 13px', { minzoom: 2, maxzoom: 7 }),
		places('locality', '600 14px', { minzoom: 7, maxzoom: 15 }),
		places('neighbourhood macrohood', '500 12px', { minzoom: 13 }),
		{
			dataLayer: 'water',
			minzoom: 10,
			symbolizer: new CenteredTextSymbolizer(text('italic 500 12px', colour['water-label'], colour.water)),
			filter: (_zoom, { geomType }) => geomType === GeomType.Point
		},
		roads('highway major_road', '500 12px', 14),
		roads('minor_road', '400 12px', 16)
	];
}

/** Pixels. On a narrower screen area a city's streets are only a blot. */
const LEAST_PIXELS = 100;

/** @param url ends in `.pmtiles` before any query */
export function streetLayer(
	url: string,
	options: { element: HTMLElement; language: string; bounds: L.LatLngBounds; maxDataZoom: number }
): L.GridLayer {
	// The package reads Leaflet from the global scope.
	Object.assign(globalThis, { L });
	const { element, language, bounds, maxDataZoom } = options;
	const palette = readPalette(element);
	const layer: unknown = leafletLayer({
		url,
		lang: language,
		bounds,
		minZoom: Math.ceil(Math.log2((LEAST_PIXELS * 360) / (256 * (bounds.getEast() - bounds.getWest())))),
		maxDataZoom,
		attribution: '',
		paintRules: paintRules(palette),
		labelRules: labelRules(palette, language)
	});
	return layer as L.GridLayer;
}
