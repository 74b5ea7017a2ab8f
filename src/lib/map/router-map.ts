/** The script of the list page's map, `data-map`: the routers of the list and those around them. */
import L from 'leaflet';
import type { Position } from '../domain/geo.ts';
import { areaOf } from './area.ts';
import { createMap, hereMarker, loadStyles, MAX_ZOOM, positionIn } from './create-map.ts';
import type { Box } from './grouping.ts';
import { Markers } from './markers.ts';
import { createMarks, type Marks } from './marks.ts';
import { roundDegrees } from './position.ts';
import { createRouterFeed } from './router-feed.ts';
import { fill, type MapSettings } from './settings.ts';

/** After a move by this part of its width, the view differs from the list. */
const MOVED_PART = 0.25;
/** Shows the streets around a list of one router. */
const CLOSEST_FIT = 17;
/** Pixels on both sides together, so that no pin is cut off. */
const FIT_PADDING = 72;
/** The map must be still for this long before its routers are requested. */
const REST_MS = 250;

interface MapContext {
	map: L.Map;
	marks: Marks;
	markers: Markers;
	settings: MapSettings;
}

const element = document.querySelector<HTMLElement>('[data-map]');
if (element) void loadStyles().then(() => drawMap(element));

function drawMap(element: HTMLElement): void {
	const settings = JSON.parse(element.dataset['map'] ?? '') as MapSettings;
	const { map, sheet } = createMap(element, settings);
	const announcement = document.createElement('p');
	announcement.className = 'visually-hidden';
	announcement.setAttribute('role', 'status');
	sheet.append(announcement);

	const search = (position: Position) => openList(settings.list, position);
	const marks = createMarks(MAX_ZOOM, settings.texts, {
		onMark: (id) => {
			point(id);
			document.getElementById(`router-${id}`)?.scrollIntoView({ block: 'nearest' });
		},
		onSearch: search,
		onApart: (position, zoom) => void zoomInto(context, announcement, position, zoom)
	});
	const markers = new Markers(map);
	const context: MapContext = { map, marks, markers, settings };
	const point = (id: number | null) => {
		markers.point(id);
		for (const card of document.querySelectorAll<HTMLElement>('[data-router]')) {
			card.classList.toggle('marked', card.dataset['router'] === String(id));
		}
	};
	followList(point);
	map.on('click', ({ latlng }) => search(positionIn(latlng)));
	showList(context);
	followView(context, sheet, search);
}

function openList(list: string, { lat, lon }: Position): void {
	location.assign(`${list}lat=${roundDegrees(lat)}&lon=${roundDegrees(lon)}#map`);
}

function followList(point: (id: number | null) => void): void {
	for (const card of document.querySelectorAll<HTMLElement>('[data-router]')) {
		const id = Number(card.dataset['router']);
		for (const name of ['pointerenter', 'focusin']) card.addEventListener(name, () => point(id));
		for (const name of ['pointerleave', 'focusout']) card.addEventListener(name, () => point(null));
	}
}

function showList({ map, marks, settings }: MapContext): void {
	const { routers, position, radius } = settings;
	const start = L.latLng(position.lat, position.lon);
	L.circle(start, { radius, className: 'reach', fill: false, interactive: false }).addTo(map);
	hereMarker(start).addTo(map);
	marks.setOthers([]);
	marks.setListed(routers.map((router, index) => ({ ...router, number: index + 1 })));
	const around =
		routers.length === 0
			? start.toBounds(2 * radius)
			: L.latLngBounds([start, ...routers.map(({ lat, lon }) => L.latLng(lat, lon))]);
	const padding = L.point(FIT_PADDING, FIT_PADDING);
	map.setView(around.getCenter(), Math.min(CLOSEST_FIT, map.getBoundsZoom(around, false, padding)), {
		animate: false
	});
}

/** Updates the marks and the button "Search here" while the map moves. */
function followView(
	{ map, marks, markers, settings }: MapContext,
	sheet: HTMLElement,
	search: (position: Position) => void
): void {
	const fitted = { centre: map.getCenter(), zoom: map.getZoom() };
	const button = document.createElement('button');
	button.type = 'button';
	button.className = 'button search';
	button.textContent = settings.texts.searchHere;
	button.addEventListener('click', () => search(positionIn(map.getCenter())));

	const show = () => markers.show(marks.at(boxOf(map.getBounds().pad(0.2)), map.getZoom()));
	const feed = createRouterFeed(settings.feed, () => {
		marks.setOthers(feed.routers.values());
		show();
	});
	const read = () =>
		feed.look(areaOf(positionIn(map.getCenter()), positionIn(map.getBounds().getNorthEast())));
	const isMoved = () => {
		const { x, y } = map.latLngToContainerPoint(fitted.centre).subtract(map.getSize().divideBy(2));
		return Math.hypot(x, y) > MOVED_PART * map.getSize().x || map.getZoom() < fitted.zoom - 1;
	};
	let timer: ReturnType<typeof setTimeout> | undefined;
	const follow = () => {
		show();
		if (isMoved()) sheet.prepend(button);
		else button.remove();
		clearTimeout(timer);
		timer = setTimeout(read, REST_MS);
	};
	map.on('moveend', follow);
	follow();
}

/** Zooms to the point where a group separates, and announces how many places the map then shows. */
async function zoomInto(
	{ map, marks, settings }: MapContext,
	announcement: HTMLElement,
	{ lat, lon }: Position,
	zoom: number
): Promise<void> {
	const arrived = new Promise((resolve) => map.once('moveend', resolve));
	map.setView([lat, lon], zoom);
	await arrived;
	const count = String(marks.countIn(boxOf(map.getBounds())));
	announcement.textContent = fill(settings.texts.inView, { count });
}

const boxOf = (view: L.LatLngBounds): Box => [
	view.getWest(),
	view.getSouth(),
	view.getEast(),
	view.getNorth()
];
