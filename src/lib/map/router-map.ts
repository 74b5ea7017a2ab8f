/** The script of the list page's map, `data-map`: the routers of the list and those around them. */
import L from 'leaflet';
import { distanceMetres, formatDistance, type Position } from '../domain/geo.ts';
import { areaOf } from './area.ts';
import { createMap, hereMarker, loadStyles, MAX_ZOOM, positionIn } from './create-map.ts';
import { type Choice, createMarks, type Marks } from './marks.ts';
import { longitudeNear, roundDegrees } from './position.ts';
import { createRouterFeed, fill, type MapRouter, type MapSettings } from './router-feed.ts';
import { addNeighbourhoods, addRings } from './surroundings.ts';

/** After a move by this part of its width, the view differs from the list. */
const MOVED_PART = 0.25;
/** Shows the surroundings of a list of one router. */
const CLOSEST_FIT = 17;
/** Pixels on both sides together, so that no mark is cut off. */
const FIT_PADDING = 72;
/** Metres: the view of an empty list. */
const EMPTY_VIEW = 4_000;
/** The map must be still for this long before its routers are requested. */
const REST_MS = 250;

const element = document.querySelector<HTMLElement>('[data-map]');
if (element) void loadStyles().then(() => drawMap(element));

function drawMap(element: HTMLElement): void {
	const settings = JSON.parse(element.dataset['map'] ?? '') as MapSettings;
	const { routers: listed, position, texts } = settings;
	const { map, sheet } = createMap(element, settings);
	const announcement = document.createElement('p');
	announcement.className = 'visually-hidden';
	announcement.setAttribute('role', 'status');
	sheet.append(announcement);

	const card = createCard(sheet, settings);
	const choose = (choice: Choice) => {
		const { apartAt } = choice;
		if (apartAt === null || apartAt > MAX_ZOOM) card.open(choice);
		else
			void zoomInto(map, marks, choice.at, apartAt).then((count) => {
				announcement.textContent = fill(texts.inView, { count: String(count) });
			});
	};
	const marks = createMarks(map, texts, new Set(listed.map(({ id }) => id)), choose);
	const search = (at: Position) => openList(settings.list, at);
	map.on('click', ({ latlng }) => (card.isOpen() ? card.close() : search(positionIn(latlng))));
	map.on('movestart', card.close);
	followRows(marks);

	addRings(map, position);
	hereMarker([position.lat, position.lon]).addTo(map);
	fit(map, position, listed);
	const nameAround = addNeighbourhoods(map);
	const show = (others: Iterable<MapRouter>) => {
		const all = [...new Map([...others, ...listed].map((router) => [router.id, router])).values()];
		marks.load(all);
		nameAround(all);
	};
	show([]);
	const feed = createRouterFeed(settings.feed, () => show(feed.routers.values()));
	offerSearch(map, sheet, texts.searchHere, search);
	let timer: ReturnType<typeof setTimeout> | undefined;
	const follow = () => {
		marks.show();
		clearTimeout(timer);
		timer = setTimeout(() => {
			feed.look(areaOf(positionIn(map.getCenter()), positionIn(map.getBounds().getNorthEast())));
		}, REST_MS);
	};
	map.on('moveend', follow);
	follow();
}

function openList(list: string, { lat, lon }: Position): void {
	location.assign(`${list}lat=${roundDegrees(lat)}&lon=${roundDegrees(lon)}#map`);
}

/** Shows all routers of the list around the reader's point, also across the 180th meridian. */
function fit(map: L.Map, position: Position, routers: readonly MapRouter[]): void {
	const start = L.latLng(position.lat, position.lon);
	const places = routers.map(({ lat, lon }) => L.latLng(lat, longitudeNear(lon, start.lng)));
	const around = routers.length === 0 ? start.toBounds(EMPTY_VIEW) : L.latLngBounds([start, ...places]);
	const zoom = map.getBoundsZoom(around, false, L.point(FIT_PADDING, FIT_PADDING));
	map.setView(around.getCenter(), Math.min(CLOSEST_FIT, zoom), { animate: false });
}

/** A row of the list under the pointer, or with the focus, has its mark stand out. */
function followRows(marks: Marks): void {
	for (const row of document.querySelectorAll<HTMLElement>('[data-router]')) {
		const id = Number(row.dataset['router']);
		for (const name of ['pointerenter', 'focusin']) row.addEventListener(name, () => marks.point(id));
		for (const name of ['pointerleave', 'focusout']) row.addEventListener(name, () => marks.point(null));
	}
}

/** A button that appears when the view has left the list. */
function offerSearch(map: L.Map, sheet: HTMLElement, text: string, search: (at: Position) => void): void {
	const fitted = { centre: map.getCenter(), zoom: map.getZoom() };
	const button = document.createElement('button');
	button.type = 'button';
	button.className = 'button search';
	button.textContent = text;
	button.addEventListener('click', () => search(positionIn(map.getCenter())));
	map.on('moveend', () => {
		const { x, y } = map.latLngToContainerPoint(fitted.centre).subtract(map.getSize().divideBy(2));
		const isMoved = Math.hypot(x, y) > MOVED_PART * map.getSize().x || map.getZoom() < fitted.zoom - 1;
		if (isMoved) sheet.prepend(button);
		else button.remove();
	});
}

/** Zooms to the point where a group separates. Returns how many routers the map then shows. */
async function zoomInto(map: L.Map, marks: Marks, { lat, lon }: Position, zoom: number): Promise<number> {
	const arrived = new Promise((resolve) => map.once('moveend', resolve));
	map.setView([lat, lon], zoom);
	await arrived;
	return marks.countInView();
}

/** The card at the bottom of the map: the chosen router, or those that share its place, and the way to buy. */
function createCard(sheet: HTMLElement, { position, router: address, texts }: MapSettings) {
	const card = document.createElement('section');
	card.className = 'card place';
	let opener: HTMLElement | null = null;

	function close(): void {
		if (card.contains(document.activeElement)) opener?.focus({ preventScroll: true });
		opener?.classList.remove('chosen');
		card.remove();
	}

	const closing = document.createElement('button');
	closing.type = 'button';
	closing.className = 'close';
	closing.textContent = '×';
	closing.setAttribute('aria-label', texts.close);
	closing.addEventListener('click', close);
	card.addEventListener('keydown', ({ key }) => {
		if (key === 'Escape') close();
	});

	function describe({ id, name, price, online, lat, lon }: MapRouter): HTMLElement {
		const place = document.createElement('div');
		const [title, text] = [document.createElement('h3'), document.createElement('p')];
		title.append(document.createElement('bdi'));
		title.firstElementChild?.append(name);
		text.textContent = `${price || texts.offline} · ${formatDistance(distanceMetres(position, { lat, lon }))}`;
		place.append(title, text);
		if (online) {
			const buy = document.createElement('a');
			buy.className = 'button';
			buy.href = `${address}${id}`;
			buy.textContent = texts.buy;
			place.append(buy);
		}
		return place;
	}

	return {
		isOpen: () => card.isConnected,
		close,
		open({ routers, element }: Choice): void {
			close();
			opener = element;
			element.classList.add('chosen');
			card.replaceChildren(closing, ...routers.map(describe));
			if (routers.some(({ online }) => online)) {
				const note = document.createElement('p');
				note.className = 'muted small';
				note.textContent = texts.buyThere;
				card.append(note);
			}
			card.setAttribute('aria-label', routers.map(({ name }) => name).join(', '));
			sheet.append(card);
			(card.querySelector('a') ?? closing).focus({ preventScroll: true });
		}
	};
}
