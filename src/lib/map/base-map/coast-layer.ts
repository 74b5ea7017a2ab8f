import L from 'leaflet';
import type { Palette } from './palette.ts';
import { decodeWorld, ringPoints, STEPS, type GridPoint, type World } from './world-format.ts';
import worldUrl from './world.bin?url';

/** Draws coasts, borders and a grid of degrees for areas without streets. The grid makes movement visible. */

/** Draws the world three times side by side, so that no view ends at the 180th meridian. */
const COPIES = [-360, 0, 360];
const GRID_DEGREES = [30, 10, 5, 1, 0.5, 0.1, 0.05, 0.01, 0.005, 0.001];
const GRID_PIXELS = 90;
/** Mercator's projection grows without limit towards the poles. */
const MAX_LAT = 85;
const PANE = 'coast';

let world: Promise<World> | null = null;

/** Loads the world's file once per page; retries after a failure. @throws if it fails */
function loadWorld(): Promise<World> {
	world ??= fetch(worldUrl)
		.then((response) => {
			if (!response.ok) throw new Error(`The world did not come: ${response.status}`);
			return response.arrayBuffer();
		})
		.then((bytes) => decodeWorld(new Uint8Array(bytes)));
	world.catch(() => (world = null));
	return world;
}

/** Adds the coasts below all other layers. Returns the function that removes them. */
export async function addCoasts(map: L.Map, palette: Palette, language: string): Promise<() => void> {
	const { arcs, land, borders, countries } = await loadWorld();
	const pane = map.getPane(PANE) ?? map.createPane(PANE);
	pane.style.zIndex = '150';
	pane.style.pointerEvents = 'none';
	const renderer = L.canvas({ pane: PANE, padding: 0.3 });
	const layer = L.layerGroup();
	const shape = { renderer, pane: PANE, interactive: false } as const;

	for (const shift of COPIES) {
		const place = ([x, y]: GridPoint) =>
			L.latLng(Math.max(-MAX_LAT, Math.min(MAX_LAT, y / STEPS)), x / STEPS + shift);
		for (const rings of land) {
			L.polygon(
				rings.map((ring) => ringPoints(arcs, ring).map(place)),
				{ ...shape, stroke: false, fillColor: palette.land, fillOpacity: 1, smoothFactor: 0.5 }
			).addTo(layer);
		}
		L.polyline(
			borders.map((arc) => (arcs[arc] ?? []).map(place)),
			{ ...shape, color: palette.border, weight: 1, opacity: 0.8, smoothFactor: 0.5 }
		).addTo(layer);
	}
	const grid = L.polyline([], { ...shape, color: palette.grid, weight: 1, opacity: 1 }).addTo(layer);
	const names = L.layerGroup().addTo(layer);
	const nameOf = regionNames(language);

	function follow(): void {
		const view = map.getBounds().pad(0.3);
		grid.setLatLngs(gridLines(view, map.getZoom()));
		names.clearLayers();
		for (const { code, at, minZoom } of countries) {
			const position = L.latLng(at[1] / STEPS, at[0] / STEPS);
			if (map.getZoom() < minZoom || map.getZoom() > minZoom + 5 || !view.contains(position)) continue;
			const text = document.createElement('span');
			text.textContent = nameOf(code);
			L.marker(position, {
				pane: PANE,
				icon: L.divIcon({ className: 'country', html: text, iconSize: [0, 0] }),
				interactive: false,
				keyboard: false
			}).addTo(names);
		}
	}
	layer.addTo(map);
	follow();
	map.on('moveend', follow);
	return () => {
		map.off('moveend', follow);
		layer.remove();
		renderer.remove();
	};
}

function gridLines(view: L.LatLngBounds, zoom: number): L.LatLngTuple[][] {
	const pixelsPerDegree = (256 * 2 ** zoom) / 360;
	const step = [...GRID_DEGREES].reverse().find((degrees) => degrees * pixelsPerDegree >= GRID_PIXELS) ?? 30;
	const [south, north] = [Math.max(-MAX_LAT, view.getSouth()), Math.min(MAX_LAT, view.getNorth())];
	const [west, east] = [view.getWest(), view.getEast()];
	const lines: L.LatLngTuple[][] = [];
	for (let lon = Math.ceil(west / step) * step; lon <= east; lon += step) {
		lines.push([
			[south, lon],
			[north, lon]
		]);
	}
	for (let lat = Math.ceil(south / step) * step; lat <= north; lat += step) {
		lines.push([
			[lat, west],
			[lat, east]
		]);
	}
	return lines;
}

/** Names countries in the page's language, if the browser knows them. */
function regionNames(language: string): (code: string) => string {
	try {
		const names = new Intl.DisplayNames([language, 'en'], { type: 'region' });
		return (code) => names.of(code) ?? code;
	} catch {
		// Old WebViews: no names are better than wrong ones.
		return () => '';
	}
}
