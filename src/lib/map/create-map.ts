import L from 'leaflet';
import type { Position } from '../domain/geo.ts';
import leafletStyleUrl from 'leaflet/dist/leaflet.css?url';
import mapStyleUrl from '#lib/styles/map.css?url';
import { addBaseMap } from './base-map.ts';

/** The first view of a map, and its texts in the page's language. */
export interface MapView {
	position: Position;
	texts: { label: string; zoomIn: string; zoomOut: string };
}

export const MAX_ZOOM = 19;

export async function loadStyles(): Promise<void> {
	// Ours after Leaflet's, to override it.
	const loading = [leafletStyleUrl, mapStyleUrl].map(
		(href) =>
			new Promise<void>((loaded) => {
				const link = document.createElement('link');
				link.rel = 'stylesheet';
				link.href = href;
				link.onload = () => loaded();
				document.head.append(link);
			})
	);
	await Promise.all(loading);
}

export function positionIn(latlng: L.LatLng): Position {
	const { lat, lng: lon } = latlng.wrap();
	return { lat, lon };
}

export const hereMarker = (at: L.LatLngExpression): L.Marker =>
	L.marker(at, {
		icon: L.divIcon({ className: 'here', iconSize: [16, 16] }),
		interactive: false,
		keyboard: false
	});

/** Puts a map into an element. Returns it and the box around it. */
export function createMap(
	element: HTMLElement,
	{ texts, position }: MapView
): { map: L.Map; sheet: HTMLElement } {
	const sheet = document.createElement('div');
	sheet.className = 'sheet';
	const leaf = document.createElement('div');
	leaf.className = 'leaf';
	leaf.dir = 'ltr';
	leaf.setAttribute('role', 'application');
	leaf.setAttribute('aria-label', texts.label);
	sheet.append(leaf);
	element.replaceChildren(sheet);
	const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
	const { lang: language, dir } = document.documentElement;
	const [start, end] = dir === 'rtl' ? (['right', 'left'] as const) : (['left', 'right'] as const);
	const map = L.map(leaf, {
		zoomControl: false,
		attributionControl: false,
		minZoom: 2,
		maxZoom: MAX_ZOOM,
		worldCopyJump: true,
		zoomAnimation: !isStill,
		fadeAnimation: !isStill,
		markerZoomAnimation: !isStill,
		inertia: !isStill
	});
	if (isStill) {
		const { panBy } = map;
		map.panBy = (offset, options) => panBy.call(map, offset, { ...options, animate: false });
	}
	map.setView([position.lat, position.lon], 13);
	const { zoomIn: zoomInTitle, zoomOut: zoomOutTitle } = texts;
	L.control.zoom({ position: `top${start}`, zoomInTitle, zoomOutTitle }).addTo(map);
	L.control.scale({ imperial: false, maxWidth: 120, position: `bottom${start}` }).addTo(map);
	const attribution = L.control.attribution({ prefix: false, position: `bottom${end}` }).addTo(map);
	void addBaseMap(map, { element: leaf, language, address: '/basemap', attribution });
	return { map, sheet };
}
