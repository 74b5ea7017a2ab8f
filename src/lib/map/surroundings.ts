/**
 * What the map says without any map file: rings with their distance around the reader's point, and the names of
 * neighbourhoods from the addresses of the routers.
 */
import L from 'leaflet';
import { distanceMetres, formatDistance, type Position } from '../domain/geo.ts';
import { METRES_PER_DEGREE } from './area.ts';
import { longitudeNear } from './position.ts';
import type { MapRouter } from './router-feed.ts';

/** Metres. */
const RINGS = [
	100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000
];
/** Pixels between the point and the first ring. */
const FIRST_RING = 60;
const RINGS_IN_VIEW = 4;

/** Draws rings that suit the zoom, each with its distance where the view shows it. */
export function addRings(map: L.Map, { lat, lon }: Position): void {
	const layer = L.layerGroup().addTo(map);
	const metresPerDegreeLon = METRES_PER_DEGREE * Math.cos((lat * Math.PI) / 180);
	const draw = () => {
		layer.clearLayers();
		const middle = longitudeNear(lon, map.getCenter().lng);
		const metresPerPixel = (360 * metresPerDegreeLon) / (256 * 2 ** map.getZoom());
		const rings = RINGS.filter((radius) => radius / metresPerPixel >= FIRST_RING).slice(0, RINGS_IN_VIEW);
		for (const radius of rings) {
			L.circle([lat, middle], { radius, className: 'ring', fill: false, interactive: false }).addTo(layer);
			const [north, east] = [radius / METRES_PER_DEGREE, radius / metresPerDegreeLon];
			const points = [
				...[L.latLng(lat + north, middle), L.latLng(lat - north, middle)],
				...[L.latLng(lat, middle + east), L.latLng(lat, middle - east)]
			];
			const at = points.find((point) => isInside(map, map.latLngToContainerPoint(point), EDGE));
			if (at) addText(layer, at, 'ring-text', formatDistance(radius));
		}
	};
	map.on('moveend', draw);
	draw();
}

/** Pixels between a text and the edge of the map. */
const EDGE = 24;

function isInside(map: L.Map, { x, y }: L.Point, marginX: number): boolean {
	const size = map.getSize();
	return x > marginX && x < size.x - marginX && y > EDGE && y < size.y - EDGE;
}

interface Neighbourhood extends Position {
	name: string;
	/** Routers whose address names it. */
	count: number;
	/** Metres from the middle to the farthest of them. */
	reach: number;
}

const MAX_NAME_LENGTH = 30;

/** Finds the places that addresses name: their parts between commas, without those that have a digit. */
function findNeighbourhoods(routers: Iterable<MapRouter>): Neighbourhood[] {
	const places = new Map<string, { name: string; members: Position[] }>();
	for (const { address, lat, lon } of routers) {
		for (const part of address.split(/[,،፣;\n]/)) {
			const name = part.trim();
			if (name === '' || name.length > MAX_NAME_LENGTH || /\d/.test(name)) continue;
			const key = name.toLowerCase();
			const place = places.get(key) ?? { name, members: [] };
			place.members.push({ lat, lon });
			places.set(key, place);
		}
	}
	return [...places.values()].map(({ name, members }) => {
		const [first] = members;
		const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
		const lat = mean(members.map((member) => member.lat));
		const lon = mean(members.map((member) => longitudeNear(member.lon, first?.lon ?? 0)));
		const reach = Math.max(...members.map((member) => distanceMetres(member, { lat, lon })));
		return { name, lat, lon, count: members.length, reach };
	});
}

/** A place wider than this part of the map is left out: its name says nothing there. */
const WIDEST_PART = 1.2;
/** A place of one router is named from this zoom on. */
const CLOSE_ZOOM = 13;
const MAX_NAMES = 14;
/** Pixels, in the widest of the usual fonts. */
const [LETTER_WIDTH, LINE_HEIGHT] = [10, 20];
/** Pixels from the middle of a mark to its edge, with a little room, and to the name above it (styles/map.css). */
const [MARK_X, MARK_Y, ABOVE] = [24, 16, 28];

/** Names the neighbourhoods in the view. Returns the function that draws them again for other routers. */
export function addNeighbourhoods(map: L.Map): (routers: Iterable<MapRouter>) => void {
	const pane = map.createPane('neighbourhoods');
	pane.style.zIndex = '350';
	pane.style.pointerEvents = 'none';
	const layer = L.layerGroup().addTo(map);
	let known: Neighbourhood[] = [];
	let routersNow: readonly MapRouter[] = [];
	const draw = () => {
		layer.clearLayers();
		const view = map.getBounds();
		const metresPerPixel = map.distance(view.getSouthWest(), view.getSouthEast()) / map.getSize().x;
		const widest = WIDEST_PART * Math.min(map.getSize().x, map.getSize().y);
		const taken: { x: number; y: number; width: number }[] = [];
		const marks = routersNow.map(({ lat, lon }) =>
			map.latLngToContainerPoint([lat, longitudeNear(lon, map.getCenter().lng)])
		);
		for (const { name, lat, lon, count, reach } of known) {
			const at = L.latLng(lat, longitudeNear(lon, map.getCenter().lng));
			if (taken.length >= MAX_NAMES) break;
			if ((2 * reach) / metresPerPixel > widest || (count === 1 && map.getZoom() < CLOSE_ZOOM)) continue;
			const point = map.latLngToContainerPoint(at);
			const { x, y } = point;
			const width = name.length * LETTER_WIDTH;
			if (!isInside(map, point, width / 2)) continue;
			const isFree = taken.every(
				(other) => Math.abs(other.x - x) > (other.width + width) / 2 || Math.abs(other.y - y) > LINE_HEIGHT
			);
			const isCovered = marks.some(
				(mark) =>
					Math.abs(mark.x - x) < MARK_X + width / 2 &&
					Math.abs(mark.y - (y - ABOVE)) < MARK_Y + LINE_HEIGHT / 2 - 2
			);
			if (!isFree || isCovered) continue;
			taken.push({ x, y, width });
			addText(layer, at, 'neighbourhood', name, 'neighbourhoods');
		}
	};
	map.on('moveend', draw);
	return (routers) => {
		routersNow = [...routers];
		known = findNeighbourhoods(routersNow).sort((a, b) => b.count - a.count);
		draw();
	};
}

function addText(layer: L.LayerGroup, at: L.LatLng, className: string, text: string, pane = 'overlayPane') {
	const element = document.createElement('bdi');
	element.textContent = text;
	const icon = L.divIcon({ className, html: element, iconSize: [0, 0] });
	L.marker(at, { pane, icon, interactive: false, keyboard: false }).addTo(layer);
}
