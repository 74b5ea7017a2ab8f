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
import type { Palette } from './palette.ts';

/** Draws the streets of a PMTiles file (Protomaps' basemap schema) in the portal's colours; no businesses. */

const PARKS = [
	'park',
	'forest',
	'wood',
	'grass',
	'grassland',
	'scrub',
	'nature_reserve',
	'national_park',
	'protected_area',
	'cemetery',
	'golf_course',
	'garden',
	'pitch',
	'playground',
	'village_green'
];
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

const kind = (feature: Feature) => String(feature.props['kind'] ?? '');
const oneOf =
	(...kinds: string[]) =>
	(_zoom: number, feature: Feature) =>
		kinds.includes(kind(feature));
const isPolygon = (_zoom: number, { geomType }: Feature) => geomType === GeomType.Polygon;

/** Width in pixels by zoom, for each kind of road. */
const ROADS: readonly [filter: ReturnType<typeof oneOf>, stops: number[][]][] = [
	[
		oneOf('path', 'other'),
		[
			[14, 0],
			[15, 0.8],
			[20, 6]
		]
	],
	[
		oneOf('minor_road'),
		[
			[12, 0],
			[13, 0.8],
			[15, 2.5],
			[18, 11]
		]
	],
	[
		oneOf('major_road'),
		[
			[6, 0],
			[10, 0.8],
			[13, 2.5],
			[15, 5],
			[18, 15]
		]
	],
	[
		oneOf('highway'),
		[
			[3, 0],
			[6, 1],
			[12, 2.5],
			[15, 6],
			[18, 18]
		]
	]
];
/** Pixels of a road's edges, both sides together. */
const EDGE = 1.5;

function paintRules(colour: Palette): PaintRule[] {
	const fill = (
		dataLayer: string,
		colourOf: string,
		filter: PaintRule['filter'],
		minzoom = 0
	): PaintRule => ({
		dataLayer,
		minzoom,
		symbolizer: new PolygonSymbolizer({ fill: colourOf }),
		...(filter ? { filter } : {})
	});
	const edges = ROADS.map(([filter, stops]): PaintRule => {
		const width = exp(1.6, stops);
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
	const roads = ROADS.map(([filter, stops]): PaintRule => ({
		dataLayer: 'roads',
		symbolizer: new LineSymbolizer({ color: colour.road, width: exp(1.6, stops) }),
		filter
	}));
	return [
		fill('earth', colour.land, undefined),
		fill('landuse', colour.park, oneOf(...PARKS), 9),
		fill('water', colour.water, isPolygon),
		{
			dataLayer: 'water',
			minzoom: 10,
			symbolizer: new LineSymbolizer({
				color: colour.water,
				width: exp(1.6, [
					[9, 0.5],
					[18, 10]
				])
			}),
			filter: oneOf('river', 'canal')
		},
		fill('buildings', colour.built, undefined, 14),
		...edges,
		...roads,
		{
			dataLayer: 'roads',
			minzoom: 11,
			symbolizer: new LineSymbolizer({ color: colour.border, width: 1, opacity: 0.6, dash: [4, 3] }),
			filter: oneOf('rail')
		},
		{
			dataLayer: 'boundaries',
			symbolizer: new LineSymbolizer({ color: colour.border, width: 1 })
		}
	];
}

function labelRules(colour: Palette, language: string): LabelRule[] {
	const labelProps = [`name:${language}`, 'name'];
	const halo = { stroke: colour.land, width: 1.5 };
	const places = (kinds: string[], font: string, minzoom: number, maxzoom?: number): LabelRule => ({
		dataLayer: 'places',
		minzoom,
		...(maxzoom === undefined ? {} : { maxzoom }),
		symbolizer: new CenteredTextSymbolizer({
			labelProps,
			fill: colour.label,
			...halo,
			font,
			lineHeight: 1.3
		}),
		filter: oneOf(...kinds),
		sort: (a, b) => Number(a['min_zoom'] ?? 20) - Number(b['min_zoom'] ?? 20)
	});
	return [
		places(['country'], `600 13px ${FONT}`, 2, 7),
		places(['locality'], `600 14px ${FONT}`, 7, 15),
		places(['neighbourhood', 'macrohood'], `500 12px ${FONT}`, 13),
		{
			dataLayer: 'water',
			minzoom: 10,
			symbolizer: new CenteredTextSymbolizer({
				labelProps,
				fill: colour.waterLabel,
				stroke: colour.water,
				width: 1.5,
				font: `italic 500 12px ${FONT}`,
				lineHeight: 1.3
			}),
			filter: (_zoom, { geomType }) => geomType === GeomType.Point
		},
		{
			dataLayer: 'roads',
			minzoom: 14,
			symbolizer: new LineLabelSymbolizer({
				labelProps,
				fill: colour.label,
				...halo,
				font: `500 12px ${FONT}`
			}),
			filter: oneOf('highway', 'major_road')
		},
		{
			dataLayer: 'roads',
			minzoom: 16,
			symbolizer: new LineLabelSymbolizer({
				labelProps,
				fill: colour.label,
				...halo,
				font: `400 12px ${FONT}`
			}),
			filter: oneOf('minor_road')
		}
	];
}

/** Pixels. On a narrower screen area a city's streets are only a blot on the coasts. */
const LEAST_PIXELS = 100;

/** @param url ends in `.pmtiles` before any query */
export function streetLayer(
	url: string,
	options: { palette: Palette; language: string; bounds: L.LatLngBounds; maxDataZoom: number }
): L.GridLayer {
	// The package reads Leaflet from the global scope.
	Object.assign(globalThis, { L });
	const { palette, language, bounds, maxDataZoom } = options;
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
